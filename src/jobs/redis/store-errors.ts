import { TransientError, UsageError, VoxmuxError } from '../../core/errors.js'

/** Redis is starting, saving, changing places, or has no room: the same call may pass later. */
const BUSY = /^(LOADING|READONLY|MASTERDOWN|BUSY|TRYAGAIN|CLUSTERDOWN|NOREPLICAS|MISCONF|UNBLOCKED)\b/
const FULL = /\bOOM command not allowed|^OOM\b/
const AWAY =
  /Connection is closed|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EPIPE|ENOENT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|max retries per request|sentinels are unreachable|Stream isn't writeable/i
const REFUSED = /^(NOAUTH|WRONGPASS|NOPERM)\b|ERR invalid password|ERR (AUTH|Client sent AUTH)/

/** True where waiting helps. */
export function isPassing(error: unknown): boolean {
  const text = error instanceof Error ? error.message : ''
  return BUSY.test(text) || FULL.test(text) || (error as NodeJS.ErrnoException)?.code === 'ECONNRESET'
}

/** A fault of Redis in a person's words, without its address or password; anything else as it was thrown. */
export function storeError(thrown: unknown): unknown {
  if (thrown instanceof VoxmuxError || !(thrown instanceof Error)) return thrown
  const { message } = thrown
  const options = { cause: thrown }
  if (FULL.test(message))
    return new TransientError('ERR_STORE_FULL', 'The job store has no memory left: Redis takes no more writes.', {
      ...options,
      remedies: ['Give Redis more memory (maxmemory), or forget jobs that ended; what it acknowledged is kept.'],
    })
  if (REFUSED.test(message))
    return new UsageError('ERR_STORE_REFUSED', 'The job store refuses this user or password.', {
      ...options,
      remedies: ['Put redis://user:password@host:port into VOXMUX_STORE.'],
    })
  if (BUSY.test(message) || AWAY.test(message) || AWAY.test(String((thrown as NodeJS.ErrnoException).code ?? '')))
    return new TransientError('ERR_STORE_UNREACHABLE', 'The job store does not answer.', {
      ...options,
      remedies: ['Check that Redis runs and can be reached from here; `voxmux doctor` says more.'],
    })
  return thrown
}
