import { throwIfAborted } from '../core/abort.js'
import { InterruptedError } from '../core/errors.js'

/** Waits for shared work. An abort ends the wait (InterruptedError), not the work. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  throwIfAborted(signal)
  if (!signal) return work
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new InterruptedError('Interrupted.', { cause: signal.reason }))
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
