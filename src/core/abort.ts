import { setMaxListeners } from 'node:events'
import { InterruptedError } from './errors.js'

/** Throws {@link InterruptedError} when the signal has fired. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new InterruptedError('Interrupted.', { cause: signal.reason })
}

/**
 * A signal of one's own that also follows another: for work that ends with its caller or earlier.
 * Call `release` when the work is over, or the parent keeps a listener for each child.
 */
export function childAbort(parent: AbortSignal | undefined): { controller: AbortController; release: () => void } {
  const controller = new AbortController()
  // One signal for any number of parts at once is what it is for, no leak to warn of.
  setMaxListeners(0, controller.signal, ...(parent ? [parent] : []))
  if (!parent) return { controller, release: () => {} }
  const follow = () => controller.abort(parent.reason)
  if (parent.aborted) follow()
  else parent.addEventListener('abort', follow, { once: true })
  return { controller, release: () => parent.removeEventListener('abort', follow) }
}
