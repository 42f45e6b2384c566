import { TransientError } from '../../core/errors.js'
import { linkedAbort } from '../../core/linked-abort.js'

interface LeaseKeeper {
  /** Aborts when the lease is lost, with `ERR_LEASE_LOST` as reason, or when the parent aborts. */
  readonly signal: AbortSignal
  /** Renews at once. */
  beat(): Promise<void>
  stop(): void
}

/**
 * Renews a lease three times in its lifetime. If a renewal fails for another reason (a busy database, a full disk), the
 * next beat retries it. Nobody else gets the lease before it expires.
 *
 * @param renew throws `ERR_LEASE_LOST` when another process has the lease
 */
export function keepLease(renew: () => Promise<unknown>, leaseMs: number, parent?: AbortSignal): LeaseKeeper {
  const { controller, signal, release } = linkedAbort(parent)
  let stopped = false
  const beat = async () => {
    if (stopped) return
    try {
      await renew()
    } catch (error) {
      // A renewal that overlaps the end of the job is not a loss.
      if (isLeaseLost(error) && !stopped) {
        clearInterval(timer)
        controller.abort(error)
      }
    }
  }
  const timer = setInterval(beat, leaseMs / 3)
  timer.unref()
  return {
    signal,
    beat,
    stop: () => {
      stopped = true
      clearInterval(timer)
      release()
    },
  }
}

/** True for the fault of a lost lease. */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof TransientError && error.code === 'ERR_LEASE_LOST'
}
