import { InterruptedError } from './errors.js'

/** Throws {@link InterruptedError} if the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new InterruptedError('Interrupted.', { cause: signal.reason })
}
