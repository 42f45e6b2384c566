import { TransientError, UsageError, VoxmuxError } from '../../core/errors.js'

/** Redis is starting, saving, changing places, or has no room: the same call may pass later. */
const BUSY = /^(LOADING|READONLY|MASTERDOWN|BUSY|TRYAGAIN|CLUSTERDOWN|NOREPLICAS|MISCONF|UNBLOCKED)\b/
const FULL = /\bOOM command not allowed|^OOM\b/
const AWAY = /Connection is closed|max retries per request|sentinels are unreachable|Stream isn't writeable/i
const REFUSED = /^(NOAUTH|WRONGPASS|NOPERM)\b|ERR invalid password|ERR (AUTH|Client sent AUTH)/
const NO_DATABASE = /^ERR (DB index is out of range|SELECT is not allowed)/
const UNTRUSTED = /^(DEPTH_ZERO_)?SELF_SIGNED_CERT|^UNABLE_TO_(VERIFY|GET)|^CERT_|^ERR_TLS_CERT/

/** Why a connection cannot be made or was lost, by the system's code. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it closes the connection',
  EPIPE: 'it closes the connection',
  EAI_AGAIN: 'its name cannot be looked up',
  ENOTFOUND: 'there is no host of this name',
  ENOENT: 'there is no such socket',
  EHOSTUNREACH: 'there is no way to this host',
  ENETUNREACH: 'there is no way to this host',
  ETIMEDOUT: 'no word came in time',
}

/** True where waiting helps. */
export function isPassing(error: unknown): boolean {
  const text = error instanceof Error ? error.message : ''
  return BUSY.test(text) || FULL.test(text) || codeOf(error) === 'ECONNRESET'
}

/** A fault of Redis in a person's words, without its address or password; anything else as it was thrown. */
export function storeError(thrown: unknown): unknown {
  if (thrown instanceof VoxmuxError || !(thrown instanceof Error)) return thrown
  const { message } = thrown
  const usage = (code: `ERR_${string}`, text: string, remedy: string) =>
    new UsageError(code, text, { cause: thrown, remedies: [remedy] })
  if (FULL.test(message))
    return new TransientError('ERR_STORE_FULL', 'The job store has no memory left: Redis takes no more writes.', {
      cause: thrown,
      remedies: ['Give Redis more memory (maxmemory), or forget jobs that ended; what it acknowledged is kept.'],
    })
  if (REFUSED.test(message)) {
    const text = 'The job store refuses this user or password.'
    return usage('ERR_STORE_REFUSED', text, 'Put redis://user:password@host:port into VOXMUX_STORE.')
  }
  if (UNTRUSTED.test(codeOf(thrown))) {
    const text = `The certificate of the job store is not trusted: ${message}.`
    return usage('ERR_STORE_CERTIFICATE', text, 'Name the file of the authority that signed it in NODE_EXTRA_CA_CERTS.')
  }
  if (NO_DATABASE.test(message)) {
    const text = 'The job store has no database of this number.'
    return usage('ERR_STORE_ADDRESS', text, 'Take a smaller one, or keep farms apart by `?farm=NAME` in the address.')
  }
  if (thrown.name === 'ParserError') {
    const text = 'What answers at the address of the job store is no Redis.'
    return usage('ERR_STORE_ADDRESS', text, 'Check host and port; a Redis with TLS wants rediss://.')
  }
  const text = awayText(thrown)
  if (text === null) return thrown
  const check = 'Check that Redis runs and can be reached from here, with rediss:// where it has TLS'
  return new TransientError('ERR_STORE_UNREACHABLE', text, {
    cause: thrown,
    remedies: [`${check}; \`voxmux doctor\` says more.`],
  })
}

/** Null where Redis is neither away nor busy. */
function awayText(error: Error): string | null {
  const { message } = error
  if (BUSY.test(message)) return `The job store takes nothing now: ${message.replace(/^\w+ |\.\s*$/g, '')}.`
  const reason = REASONS[codeOf(error)]
  if (reason !== undefined) return `The job store does not answer: ${reason}.`
  return AWAY.test(message) ? 'The job store does not answer.' : null
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException | undefined)?.code ?? '')
}
