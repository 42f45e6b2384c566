import { linkedAbort } from '../core/abort.js'
import { HttpFault } from './http-fault.js'

/** Fewest bytes that a transfer must move in a window: 0.4 kB/s by default. A line of the slowest telephones has 1 kB/s. */
export const MIN_WINDOW_BYTES = 128 * 1024
/** Length of a window in silences: five minutes by default. */
const WINDOW_SILENCES = 5

export interface StallWatch {
  /** Follows the caller's signal. Aborts with an {@link HttpFault} when the transfer stalls. */
  readonly signal: AbortSignal
  readonly moved: (bytes: number) => void
  /** Ends the watch. Call it when the transfer is over. */
  readonly release: () => void
}

/**
 * Watches a transfer that no time limit ends, because a byte now and then breaks each silence. Such a connection counts
 * as silent.
 *
 * @param idleMs longest silence in milliseconds; 0 for no limit
 */
export function watchStalls(operation: string, idleMs: number, source: AbortSignal | undefined): StallWatch {
  const { controller, signal, release } = linkedAbort(source)
  const windowMs = idleMs * WINDOW_SILENCES
  let bytes = 0
  const check = () => {
    if (bytes < MIN_WINDOW_BYTES) {
      const detail = `only ${bytes} bytes in ${Math.round(windowMs / 1000)} s`
      controller.abort(new HttpFault({ operation, reason: 'timeout', detail }))
    }
    bytes = 0
  }
  const timer = windowMs > 0 ? setInterval(check, windowMs).unref() : undefined
  return {
    signal,
    moved: (more) => {
      bytes += more
    },
    release: () => {
      clearInterval(timer)
      release()
    },
  }
}
