import { setMaxListeners } from 'node:events'

/**
 * A signal that follows several others. `release` lets go of them when the work is over: `AbortSignal.any` has no
 * such thing, and a signal that lives as long as a daemon would collect one follower for each request it ever made.
 */
export function linkedAbort(...sources: (AbortSignal | undefined)[]): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController()
  const lets: (() => void)[] = []
  for (const source of sources) {
    if (!source) continue
    if (source.aborted) {
      controller.abort(source.reason)
      break
    }
    const follow = () => controller.abort(source.reason)
    // One signal for any number of calls at once is what it is for, no leak to warn of.
    setMaxListeners(0, source)
    source.addEventListener('abort', follow, { once: true })
    lets.push(() => source.removeEventListener('abort', follow))
  }
  setMaxListeners(0, controller.signal)
  return {
    signal: controller.signal,
    release: () => {
      for (const letGo of lets) letGo()
    },
  }
}
