import { linkedAbort } from '../../core/abort.js'
import { TransientError } from '../../core/errors.js'

/**
 * Renews a lease three times in its lifetime. If a renewal fails for another reason (a busy database, a full disk), the
 * next beat retries it. Nobody else gets the lease before it expires.
 *
 * @param renew throws `ERR_LEASE_LOST` when another process has the lease
 * @returns a signal that aborts when the lease is lost (the reason is `ERR_LEASE_LOST`) or the parent aborts; and `stop`.
 * Both others renew at once: `beat` never throws, and `confirm` does
 */
export function keepLease(renew: () => Promise<unknown>, leaseMs: number, parent?: AbortSignal) {
  const { controller, signal, release } = linkedAbort(parent)
  let stopped = false
  /** Renews at once, and throws whatever `renew` throws. */
  const confirm = async () => {
    try {
      await renew()
    } catch (error) {
      // A renewal that overlaps the end of the job is not a loss.
      if (isLeaseLost(error) && !stopped) {
        clearInterval(timer)
        controller.abort(error)
      }
      throw error
    }
  }
  const beat = async () => {
    if (!stopped) await confirm().catch(() => {})
  }
  const timer = setInterval(beat, leaseMs / 3)
  timer.unref()
  return {
    signal,
    beat,
    confirm,
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
