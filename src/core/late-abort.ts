import { setMaxListeners } from 'node:events'
import type { LinkedAbort } from './linked-abort.js'

/**
 * A signal that follows another one after a grace time, for a request whose answer must not be missed. A source that has
 * already fired is followed at once.
 *
 * @param graceMs milliseconds
 */
export function lateAbort(source: AbortSignal, graceMs: number): Omit<LinkedAbort, 'controller'> {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const abort = () => controller.abort(source.reason)
  const follow = () => {
    timer = setTimeout(abort, graceMs)
  }
  // Many listeners on one signal are intended, so Node must not warn of a leak.
  setMaxListeners(0, source, controller.signal)
  if (source.aborted) abort()
  else source.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal,
    release: () => {
      source.removeEventListener('abort', follow)
      clearTimeout(timer)
    },
  }
}
