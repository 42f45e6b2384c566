import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { type ExitCode, InterruptedError } from '../core/errors.js'
import { withDeadline } from '../core/waiting.js'
import type { Output } from './output/output.js'

/** The request to stop the process. */
export interface Interruption {
  readonly signal: AbortSignal
  /** The error of an aborted command, whatever its last fault was. */
  readonly error: (cause: unknown) => InterruptedError
  /** Replaces the effect of SIGHUP, but for a terminal that is closed, which stops the process. Daemons reload on it. */
  readonly onHangUp: (handler: () => void) => void
}

const SIGNALS =
  process.platform === 'win32' ? (['SIGINT', 'SIGBREAK'] as const) : (['SIGINT', 'SIGTERM', 'SIGHUP'] as const)

/** Turns the first Ctrl-C into an abort, which lets every stage clean up. The second one exits at once. */
export function watchInterruption(output: Output): Interruption {
  const controller = new AbortController()
  const wasInTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY) && isInTerminal()
  const stop = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) {
      // The exit waits for threads, and one of them may wait for a pipe or a share. The next signal then ends the process.
      for (const one of SIGNALS) process.removeAllListeners(one)
      output.fail(new InterruptedError())
      process.exit(130)
    }
    output.note('Stopping … press Ctrl-C again to exit at once.')
    controller.abort(name === 'SIGINT' ? new CtrlC() : new InterruptedError())
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  return {
    signal: controller.signal,
    onHangUp: (handler) => {
      process.off('SIGHUP', stop)
      process.on('SIGHUP', () => (wasInTerminal && !isInTerminal() ? stop('SIGHUP') : handler()))
    },
    error: (cause) => (cause instanceof InterruptedError ? cause : new InterruptedError('Interrupted.', { cause })),
  }
}

/** False once the window of the terminal is closed, which sends SIGHUP too, and for a process that has left it. */
function isInTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}

/** A person ended the command. */
class CtrlC extends InterruptedError {}

/**
 * Waits until the process is asked to stop.
 *
 * @returns exit code of a command that runs until then: 130 after Ctrl-C, 0 after SIGTERM, with which a service manager
 * ends it
 */
export async function untilStopped(signal: AbortSignal): Promise<ExitCode> {
  if (!signal.aborted) await once(signal, 'abort')
  return signal.reason instanceof CtrlC ? 130 : 0
}

/** Time limit of an orderly end. A supervisor kills a process that takes longer, and a restart recovers from that. */
const ENDING_MS = 8000

/** Waits for an orderly end, within the time limit. The next start cleans up after whatever hangs. */
export async function withinSeconds(ending: Promise<unknown>): Promise<void> {
  await withDeadline(ending, ENDING_MS, () => {})
}
