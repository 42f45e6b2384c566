import { TransientError, UsageError, VoxmuxError } from '../../core/errors.js'
import { docsPage } from '../../core/package-folder.js'
import { NOT_POSTGRES } from './postgres-socket.js'

/** The connection is gone: it cannot be made, or it was lost with or without a reason. */
const LOST = /^(ECONN\w+|EPIPE|EAI_AGAIN|ENOTFOUND|ENOENT|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|08\w{3}|57P0[1-5])$/
const LOST_TEXT = /Connection terminated|connection timeout|timeout exceeded|Connection ended|not queryable|socket/i
/** Deadlock, serialization failure, lock timeout, an idle transaction that was ended. */
const CONFLICT = /^(40\w{3}|55P03|25P0[23])$/
/** Disk or memory is full, no connection is free, or a statement took too long. */
const BUSY = /^(53\w{3}|57014)$/
/** The role has no right to connect, to a table, or to create one; or no schema of its own. */
const NOT_ALLOWED = /^(42501|3F000)$/
/** With any code: PgBouncer gives that of a broken protocol, as it does if its server is away. */
const REFUSED_TEXT = /authentication failed|no such user/i
const NO_DATABASE_TEXT = /^no such database|^database ".*" does not exist$/
/** No rule of pg_hba.conf fits. A server in the cloud answers so without TLS. */
const NO_RULE = /no pg_hba\.conf entry/
const WITHOUT_TLS = /no encryption|SSL off|insecure/
const UNTRUSTED = /^(DEPTH_ZERO_)?SELF_SIGNED_CERT|^UNABLE_TO_(VERIFY|GET)|^CERT_|^ERR_TLS_CERT/
/** Another client of a pooler in transaction mode has used the server's connection. */
const UNPREPARED = /^(26000|42P05)$/

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
  '53300': 'it has no free connection',
  '57014': 'it canceled a statement that took longer than its statement_timeout',
  '57P03': 'it is starting or stopping',
}

/** True for a replica that was not promoted, or not yet. */
function isReplica(error: unknown): boolean {
  return codeOf(error) === '25006' || (error instanceof Error && /recovery is in progress/.test(error.message))
}

function isRefused(error: Error): boolean {
  const code = codeOf(error)
  return /^28/.test(code) || REFUSED_TEXT.test(error.message) || (code === '' && /password|SASL/.test(error.message))
}

function isUnknownDatabase(error: Error): boolean {
  return codeOf(error) === '3D000' || NO_DATABASE_TEXT.test(error.message)
}

/** True if the connection is gone, and with it the answer to the last statement. */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error) || isRefused(error) || isUnknownDatabase(error)) return false
  return LOST.test(codeOf(error)) || (codeOf(error) === '' && LOST_TEXT.test(error.message))
}

/** True if another host may accept writes now. */
export function isElsewhere(error: unknown): boolean {
  return isLost(error) || isReplica(error)
}

/** True if prepared statements do not survive on this connection. */
export function isUnprepared(error: unknown): boolean {
  return UNPREPARED.test(codeOf(error))
}

/** True if the same call may succeed later. */
export function isPassing(error: unknown): boolean {
  const code = codeOf(error)
  return isElsewhere(error) || isConflict(error) || BUSY.test(code) || isUnprepared(error)
}

/** True if a transaction met another one. The server is well, so nobody needs to be told. */
export function isConflict(error: unknown): boolean {
  return CONFLICT.test(codeOf(error))
}

/** A fault that passes only if a person changes something. The first that fits counts. */
interface LastingFault {
  readonly fits: (error: Error) => boolean
  readonly code: `ERR_${string}`
  readonly message: (error: Error) => string
  readonly remedy: string
}

const LASTING: readonly LastingFault[] = [
  {
    fits: (error) => NOT_ALLOWED.test(codeOf(error)),
    code: 'ERR_STORE_REFUSED',
    message: ({ message }) => `The user of the job store lacks a right: ${message}.`,
    remedy: `Give the user a schema of its own: \`CREATE SCHEMA AUTHORIZATION voxmux\`, with its name. See ${docsPage('scale-out.md')}.`,
  },
  {
    fits: (error) => NO_RULE.test(error.message) || (/^28/.test(codeOf(error)) && WITHOUT_TLS.test(error.message)),
    code: 'ERR_STORE_REFUSED',
    message: ({ message }) =>
      `The job store accepts no connection of this user from here${WITHOUT_TLS.test(message) ? ' without TLS' : ''}.`,
    remedy:
      'Add `?sslmode=verify-full` to the address if the server needs TLS. Else add this machine to its pg_hba.conf.',
  },
  {
    fits: isRefused,
    code: 'ERR_STORE_REFUSED',
    message: () => 'The job store rejects this user or password.',
    remedy: 'Put postgres://user:password@host:port/database into VOXMUX_STORE, or set PGUSER and PGPASSWORD.',
  },
  {
    fits: (error) => UNTRUSTED.test(codeOf(error)),
    code: 'ERR_STORE_CERTIFICATE',
    message: ({ message }) => `The certificate of the job store is not trusted: ${message}.`,
    remedy:
      'Set NODE_EXTRA_CA_CERTS to the certificate of the authority that signed it, or sslrootcert in the address.',
  },
  {
    fits: isUnknownDatabase,
    code: 'ERR_STORE_ADDRESS',
    message: () => 'The job store has no database with this name.',
    remedy: 'Create it with `createdb`, or correct the name at the end of the address.',
  },
  {
    fits: (error) => codeOf(error) === NOT_POSTGRES,
    code: 'ERR_STORE_ADDRESS',
    message: () => 'The server at the address of the job store is not PostgreSQL.',
    remedy: 'Correct host and port in the address. The port of PostgreSQL is usually 5432.',
  },
  {
    fits: ({ message }) => /does not support SSL/.test(message),
    code: 'ERR_STORE_ADDRESS',
    message: () => 'The server of the job store does not use TLS.',
    remedy: 'Turn TLS on at the server, or remove sslmode from the address.',
  },
]

/** Converts a fault of PostgreSQL to an error without address or password. Returns anything else unchanged. */
export function storeError(thrown: unknown): unknown {
  if (thrown instanceof VoxmuxError || !(thrown instanceof Error)) return thrown
  if (/^53[12]/.test(codeOf(thrown)))
    return new TransientError('ERR_STORE_FULL', 'The job store has no space left: PostgreSQL accepts no more writes.', {
      cause: thrown,
      remedies: ['Free space on the disk of PostgreSQL. Acknowledged writes are kept.'],
    })
  const lasting = LASTING.find(({ fits }) => fits(thrown))
  if (lasting)
    return new UsageError(lasting.code, lasting.message(thrown), { cause: thrown, remedies: [lasting.remedy] })
  if (!isPassing(thrown)) return thrown
  const reason = reasonOf(thrown)
  const message = `The job store does not respond${reason === undefined ? '' : `: ${reason}`}.`
  return new TransientError('ERR_STORE_UNREACHABLE', message, {
    cause: thrown,
    remedies: ['Check that PostgreSQL runs and is reachable from here. `voxmux doctor` shows details.'],
  })
}

function reasonOf(error: Error): string | undefined {
  if (isReplica(error)) return 'it accepts no writes, because it is a replica or set to read-only'
  if (/connection timeout/.test(error.message)) return 'it sends no answer'
  return REASONS[codeOf(error)]
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException | undefined)?.code ?? '')
}
