import { setMaxListeners } from 'node:events'
import { InterruptedError } from './errors.js'

/** Throws {@link InterruptedError} if the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new InterruptedError('Interrupted.', { cause: signal.reason })
}

/** A controller whose signal also follows others. */
interface LinkedAbort {
  readonly controller: AbortController
  readonly signal: AbortSignal
  /** Stops following the others. Call it when the work is over. */
  readonly release: () => void
}

/** Follows several signals until released. With `AbortSignal.any` a daemon's signal would collect followers. */
export function linkedAbort(...sources: (AbortSignal | undefined)[]): LinkedAbort {
  const controller = new AbortController()
  const lets: (() => void)[] = []
  for (const source of sources) {
    if (!source) continue
    if (source.aborted) {
      controller.abort(source.reason)
      break
    }
    const follow = () => controller.abort(source.reason)
    // Many listeners on one signal are intended, so Node must not warn of a leak.
    setMaxListeners(0, source)
    source.addEventListener('abort', follow, { once: true })
    lets.push(() => source.removeEventListener('abort', follow))
  }
  setMaxListeners(0, controller.signal)
  return {
    controller,
    signal: controller.signal,
    release: () => {
      for (const letGo of lets) letGo()
    },
  }
}

/**
 * Runs work with a time limit, under a signal that also follows another one. The timer holds the signal: the garbage
 * collector of Node 20 takes an `AbortSignal.any` of an `AbortSignal.timeout` away, and such a limit never comes.
 */
export async function withTimeLimit<T>(
  ms: number,
  source: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { controller, signal, release } = linkedAbort(source)
  const timer = setTimeout(() => controller.abort(new DOMException('The time limit was reached.', 'TimeoutError')), ms)
  try {
    return await work(signal)
  } finally {
    clearTimeout(timer)
    release()
  }
}

/**
 * A signal that follows another one after a grace time. Requests use it if their response must not be missed. A source
 * that has already fired is followed at once.
 *
 * @param graceMs milliseconds; 0 follows at once
 */
export function lateAbort(source: AbortSignal | undefined, graceMs: number): Pick<LinkedAbort, 'signal' | 'release'> {
  const linked = linkedAbort(source)
  if (!source || source.aborted || graceMs === 0) return linked
  linked.release()
  let timer: NodeJS.Timeout | undefined
  const follow = () => {
    timer = setTimeout(() => linked.controller.abort(source.reason), graceMs)
  }
  source.addEventListener('abort', follow, { once: true })
  return {
    signal: linked.signal,
    release: () => {
      source.removeEventListener('abort', follow)
      clearTimeout(timer)
    },
  }
}
