import type { JobFailedError } from '../../core/errors.js'
import { linkedAbort } from '../../core/linked-abort.js'
import { fileError } from './file-error.js'

export interface Deadline {
  readonly input: string
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs a task that ends when the caller's signal aborts or the deadline passes.
 *
 * @throws {JobFailedError} ERR_PROCESSING_TIMEOUT (-12) when the deadline passes; also every error of the task
 */
export async function abortAfter<T>(
  { input, timeoutMs, signal }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { controller, release } = linkedAbort(signal)
  let late: JobFailedError | undefined
  const expire = () => {
    late = fileError(
      -12,
      'ERR_PROCESSING_TIMEOUT',
      `${input} was not processed within ${(timeoutMs ?? 0) / 1000} s.`,
      input,
    )
    controller.abort(late)
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs)
  try {
    return await work(controller.signal)
  } catch (error) {
    // Every error after the deadline is a consequence of the abort.
    throw late ?? error
  } finally {
    clearTimeout(timer)
    release()
  }
}
