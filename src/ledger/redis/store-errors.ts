import { TransientError, UsageError, VoxmuxError } from '../../core/errors.js'

/** Redis is starting, saving, failing over or full. The same call may succeed later. */
const BUSY = /^(LOADING|READONLY|MASTERDOWN|BUSY|TRYAGAIN|CLUSTERDOWN|NOREPLICAS|MISCONF|UNBLOCKED)\b/
const FULL = /\bOOM command not allowed|^OOM\b/
const AWAY = /Connection is closed|max retries per request|sentinels are unreachable|Stream isn't writeable/i
const REFUSED = /^(NOAUTH|WRONGPASS|NOPERM)\b|ERR invalid password|ERR (AUTH|Client sent AUTH)/
const NO_DATABASE = /^ERR (DB index is out of range|SELECT is not allowed)/
const UNTRUSTED = /^(DEPTH_ZERO_)?SELF_SIGNED_CERT|^UNABLE_TO_(VERIFY|GET)|^CERT_|^ERR_TLS_CERT/

/** Why a connection cannot be made or was lost, by the system's code. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  EAI_AGAIN: 'the lookup of its name failed',
  ENOTFOUND: 'its host name does not exist',
  ENOENT: 'the socket does not exist',
  EHOSTUNREACH: 'its host is unreachable',
  ENETUNREACH: 'its network is unreachable',
  ETIMEDOUT: 'the connection timed out',
}

/** True if waiting helps. */
export function isPassing(error: unknown): boolean {
  const text = error instanceof Error ? error.message : ''
  return BUSY.test(text) || FULL.test(text) || codeOf(error) === 'ECONNRESET'
}

/** Turns a fault of Redis into a voxmux error without address or password. Returns anything else unchanged. */
export function storeError(thrown: unknown): unknown {
  if (thrown instanceof VoxmuxError || !(thrown instanceof Error)) return thrown
  const { message } = thrown
  const usage = (code: `ERR_${string}`, text: string, remedy: string) =>
    new UsageError(code, text, { cause: thrown, remedies: [remedy] })
  if (FULL.test(message))
    return new TransientError('ERR_STORE_FULL', 'The job store has no memory left: Redis accepts no more writes.', {
      cause: thrown,
      remedies: ['Give Redis more memory (maxmemory), or remove ended jobs. Acknowledged writes are kept.'],
    })
  if (REFUSED.test(message)) {
    const text = 'The job store rejects this user or password.'
    return usage('ERR_STORE_REFUSED', text, 'Put redis://user:password@host:port into VOXMUX_STORE.')
  }
  if (UNTRUSTED.test(codeOf(thrown))) {
    const text = `The certificate of the job store is not trusted: ${message}.`
    return usage(
      'ERR_STORE_CERTIFICATE',
      text,
      'Set NODE_EXTRA_CA_CERTS to the certificate of the authority that signed it.',
    )
  }
  if (NO_DATABASE.test(message)) {
    const text = 'The job store has no database with this number.'
    return usage('ERR_STORE_ADDRESS', text, 'Use a smaller number, or separate farms with `?farm=NAME` in the address.')
  }
  if (thrown.name === 'ParserError') {
    const text = 'The server at the address of the job store is not Redis.'
    return usage('ERR_STORE_ADDRESS', text, 'Check host and port. A Redis with TLS needs rediss://.')
  }
  const text = awayText(thrown)
  if (text === null) return thrown
  const check = 'Check that Redis runs and is reachable from here, with rediss:// if it uses TLS'
  return new TransientError('ERR_STORE_UNREACHABLE', text, {
    cause: thrown,
    remedies: [`${check}. \`voxmux doctor\` shows details.`],
  })
}

/** Null if Redis is neither away nor busy. */
function awayText(error: Error): string | null {
  const { message } = error
  if (BUSY.test(message)) return `The job store is not ready: ${message.replace(/^\w+ |\.\s*$/g, '')}.`
  const reason = REASONS[codeOf(error)]
  if (reason !== undefined) return `The job store does not respond: ${reason}.`
  return AWAY.test(message) ? 'The job store does not respond.' : null
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException | undefined)?.code ?? '')
}
