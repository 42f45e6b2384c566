import { InterruptedError } from '../core/errors.js'
import type { Output } from './output/output.js'

/** How the process learns that it should stop. */
export interface Interruption {
  readonly signal: AbortSignal
  /** The error that an aborted command ends with, whatever its last fault was. */
  readonly error: (cause: unknown) => InterruptedError
  /** From now on a hang-up (SIGHUP) is answered so, and stops nothing: what daemons are told to reload by. */
  readonly answerHangUp: (answer: () => void) => void
}

const SIGNALS =
  process.platform === 'win32' ? (['SIGINT', 'SIGBREAK'] as const) : (['SIGINT', 'SIGTERM', 'SIGHUP'] as const)

/**
 * Turns the first Ctrl-C into an abort, which lets every stage clear up, and the second into an end at once: what
 * was begun is found and cleared by the next start.
 */
export function watchInterruption(output: Output): Interruption {
  const controller = new AbortController()
  const stop = () => {
    if (controller.signal.aborted) {
      output.fail(new InterruptedError())
      process.exit(130)
    }
    output.note('Stopping … press Ctrl-C again to leave at once.')
    controller.abort(new InterruptedError())
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  return {
    signal: controller.signal,
    answerHangUp: (answer) => {
      process.off('SIGHUP', stop)
      process.on('SIGHUP', answer)
    },
    error: (cause) => (cause instanceof InterruptedError ? cause : new InterruptedError('Interrupted.', { cause })),
  }
}

/** Ends when the process is asked to stop. */
export function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((ended) => {
    if (signal.aborted) ended()
    else signal.addEventListener('abort', () => ended(), { once: true })
  })
}

/** Longest that an orderly end may take: a supervisor kills what takes longer, and a restart finds all as it was. */
const ENDING_MS = 8000

/** Waits for an orderly end, but not for ever: what hangs is found and cleared by the next start. */
export async function withinSeconds(ending: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ENDING_MS)
  })
  await Promise.race([ending, late])
  clearTimeout(timer)
}
