import { InterruptedError } from '../core/errors.js'
import type { Output } from './output/output.js'

/** How the process learns that it should stop. */
export interface Interruption {
  readonly signal: AbortSignal
  /** The error that an aborted command ends with, whatever its last fault was. */
  readonly error: (cause: unknown) => InterruptedError
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
    error: (cause) => (cause instanceof InterruptedError ? cause : new InterruptedError('Interrupted.', { cause })),
  }
}
