import { InterruptedError, TransientError } from '../core/errors.js'

export interface LeaseKeeper {
  /** Fires when the lease is lost, with `ERR_LEASE_LOST` as reason, or on the parent's abort. */
  readonly signal: AbortSignal
  /** Renews at once. */
  beat(): Promise<void>
  /** No more heartbeats. */
  stop(): void
}

/**
 * Renews a lease three times in its life. A renewal that fails for another reason (a busy database, a full disk) is
 * tried again at the next beat: until the lease runs out nobody else has it.
 *
 * @param renew throws `ERR_LEASE_LOST` when the lease is another's
 */
export function keepLease(renew: () => Promise<unknown>, leaseMs: number, parent?: AbortSignal): LeaseKeeper {
  const controller = new AbortController()
  let stopped = false
  const beat = async () => {
    if (stopped) return
    try {
      await renew()
    } catch (error) {
      // A renewal that crossed the work's own end is no loss.
      if (isLeaseLost(error) && !stopped) {
        clearInterval(timer)
        controller.abort(error)
      }
    }
  }
  const timer = setInterval(beat, leaseMs / 3)
  timer.unref()
  const follow = () => controller.abort(parent?.reason ?? new InterruptedError())
  if (parent?.aborted) follow()
  else parent?.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal,
    beat,
    stop: () => {
      stopped = true
      clearInterval(timer)
      parent?.removeEventListener('abort', follow)
    },
  }
}

/** True for the fault that says: this work is another's now. */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof TransientError && error.code === 'ERR_LEASE_LOST'
}
