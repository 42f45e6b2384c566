import { childAbort } from '../../core/abort.js'
import type { JobFailedError } from '../../core/errors.js'
import { fileError } from './file-error.js'

export interface Deadline {
  readonly input: string
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs work that follows the caller's signal and ends at a deadline.
 *
 * @throws JobFailedError ERR_PROCESSING_TIMEOUT (-12) when the deadline passes; what the work throws
 */
export async function withDeadline<T>(
  { input, timeoutMs, signal }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { controller, release } = childAbort(signal)
  let late: JobFailedError | undefined
  const expire = () => {
    late = fileError(-12, 'ERR_PROCESSING_TIMEOUT', `${input} was not done within ${(timeoutMs ?? 0) / 1000} s.`, input)
    controller.abort(late)
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs)
  try {
    return await work(controller.signal)
  } catch (error) {
    // Whatever broke off broke off because of it.
    throw late ?? error
  } finally {
    clearTimeout(timer)
    release()
  }
}
