import type { WriteStream } from 'node:tty'

/** The progress that a terminal shows in its tab or in the taskbar (the control sequence OSC 9;4 of ConEmu). */
export class TaskbarProgress {
  readonly #stream: WriteStream
  readonly #isKnown: boolean
  #shown: number | undefined

  constructor(stream: WriteStream, env: NodeJS.ProcessEnv = process.env) {
    this.#stream = stream
    this.#isKnown = stream.isTTY === true && showsProgress(env)
  }

  /** @param percent 0 … 100 */
  show(percent: number): void {
    const whole = Math.floor(percent)
    if (!this.#isKnown || whole === this.#shown) return
    this.#shown = whole
    this.#stream.write(`\u001b]9;4;1;${whole}\u0007`)
  }

  clear(): void {
    if (this.#shown === undefined) return
    this.#shown = undefined
    this.#stream.write('\u001b]9;4;0;0\u0007')
  }
}

/** Other terminals would show the sequence as a desktop notification: Windows Terminal, ConEmu, Ghostty, VTE from 0.79. */
function showsProgress({ WT_SESSION, ConEmuANSI, TERM_PROGRAM, VTE_VERSION }: NodeJS.ProcessEnv): boolean {
  return Boolean(WT_SESSION) || ConEmuANSI === 'ON' || TERM_PROGRAM === 'ghostty' || Number(VTE_VERSION ?? 0) >= 7900
}
