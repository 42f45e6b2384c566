import type { WriteStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'

/** A file that is being worked on. */
export interface Bar {
  readonly name: string
  readonly percent: number
  readonly label: string
}

const BAR_CELLS = 24
const NAME_CELLS = 30
/** A terminal repaints no faster than an eye reads. */
const REPAINT_MS = 80
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u

/** One bar a file at the foot of a terminal; lines that stay are written above them. */
export class ProgressBars {
  readonly #stream: WriteStream
  readonly #bars = new Map<string, Bar>()
  #paintedRows = 0
  #timer: NodeJS.Timeout | undefined

  constructor(stream: WriteStream) {
    this.#stream = stream
  }

  /** Shows how far a file is; a percentage never falls. */
  update(key: string, bar: Bar): void {
    const percent = Math.max(bar.percent, this.#bars.get(key)?.percent ?? 0)
    this.#bars.set(key, { ...bar, percent })
    this.#timer ??= setTimeout(() => this.#repaint(''), REPAINT_MS).unref()
  }

  /** Takes a file's bar away. */
  remove(key: string): void {
    this.#bars.delete(key)
  }

  /** Writes text that stays, above the bars. */
  write(text: string): void {
    this.#repaint(`${text}\n`)
  }

  /** Takes all bars away for good. */
  stop(): void {
    this.#bars.clear()
    this.#repaint('')
  }

  #repaint(text: string): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const rows = [...this.#bars.values()]
      .slice(0, Math.max(1, (this.#stream.rows ?? 24) - 2))
      .map((bar) => this.#row(bar))
    const clear = this.#paintedRows > 0 ? `\u001b[${this.#paintedRows}A\u001b[0J` : ''
    this.#stream.write(clear + text + rows.map((row) => `${row}\n`).join(''))
    this.#paintedRows = rows.length
  }

  #row({ name, percent, label }: Bar): string {
    const filled = Math.round((percent / 100) * BAR_CELLS)
    const bar = '█'.repeat(filled) + '░'.repeat(BAR_CELLS - filled)
    const row = `${fitCells(name, NAME_CELLS).padEnd(NAME_CELLS)} ${bar} ${String(Math.floor(percent)).padStart(3)} %  ${label}`
    return fitCells(row, (this.#stream.columns ?? 80) - 1)
  }
}

/** Cuts a text to so many cells: a line that wraps would be left standing when the bars are painted again. */
export function fitCells(text: string, cells: number): string {
  // A file may be named with control characters; a terminal obeys them.
  const characters = [...stripVTControlCharacters(text).replace(/\p{Cc}/gu, '�')]
  let used = 0
  const end = characters.findIndex((character) => {
    used += WIDE.test(character) ? 2 : 1
    return used > cells
  })
  return end === -1 ? characters.join('') : `${characters.slice(0, Math.max(0, end - 1)).join('')}…`
}
