import { readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { thrownMessage, UsageError } from '../../core/errors.js'
import type { PostgresAddress } from '../database/postgres-address.js'

const FORM = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/
const KNOWN = new Set(
  'host port user password dbname sslmode sslrootcert sslcert sslkey passfile options application_name'.split(' '),
)

/**
 * Reads an address as libpq does: `postgres://[user[:password]@][host[:port][,…]][/database][?name=value&…]`.
 *
 * - `sslmode` is `disable`, `require`, `verify-ca` or `verify-full`; `sslrootcert`, `sslcert` and `sslkey` name files.
 * - `host` may be the folder of a Unix socket. `passfile` names a file of passwords. `options` go to the session.
 * - `PGHOST`, `PGPORT`, `PGUSER`, `PGPASSWORD`, `PGDATABASE`, `PGSSLMODE`, `PGSSLROOTCERT`, `PGSSLCERT`, `PGSSLKEY`,
 *   `PGPASSFILE` and `PGOPTIONS` fill in what is missing.
 *
 * @throws UsageError `ERR_STORE_ADDRESS`
 */
export function parseStoreAddress(address: string, env: NodeJS.ProcessEnv = process.env): PostgresAddress {
  const found = split(address)
  const unknown = [...found.keys()].find((name) => !KNOWN.has(name))
  if (unknown !== undefined) throw wrongAddress(`The address of the store has an unknown parameter, ${unknown}.`)
  const part = (name: string, variable: string) => found.get(name) || env[variable] || undefined
  const user = part('user', 'PGUSER') ?? userInfo().username
  const database = part('dbname', 'PGDATABASE') ?? user
  const hosts = hostsOf(part('host', 'PGHOST') ?? 'localhost', part('port', 'PGPORT') ?? '5432')
  const passwordFile = found.get('passfile') ?? env.PGPASSFILE
  const password =
    part('password', 'PGPASSWORD') ??
    (passwordFile
      ? () => passwordFrom(passwordFile, { ...(hosts[0] as PostgresAddress['hosts'][0]), database, user })
      : undefined)
  return { hosts, user, database, password, ssl: tlsOf(part, hosts), options: part('options', 'PGOPTIONS') }
}

/** True if an address contains a password. */
export function hasPassword(address: string): boolean {
  // An address with any fault is treated as if it did: its message must not show it.
  return FORM.test(address) ? split(address).has('password') : /:[^/]*@|password/i.test(address)
}

/** The address without user, password and parameters, for messages. */
export function shownAddress(address: string): string {
  const [, , hosts = '', database] = FORM.exec(address) ?? []
  return `postgres://${hosts}${database === undefined ? '' : `/${database}`}`
}

function split(address: string): Map<string, string> {
  const form = FORM.exec(address)
  if (form === null) throw wrongAddress('The address of the shared store is not an address of PostgreSQL.')
  const [, login = '', authority = '', database = '', query = ''] = form
  const colon = login.indexOf(':')
  const places = authority === '' ? [] : authority.split(',').map(hostAndPort)
  const decode = (text: string) => {
    try {
      return decodeURIComponent(text)
    } catch {
      throw wrongAddress('The address of the shared store has a % that does not begin an escape (%25 is a %).')
    }
  }
  const named = {
    user: colon < 0 ? login : login.slice(0, colon),
    password: colon < 0 ? '' : login.slice(colon + 1),
    host: places.map(({ host }) => host).join(),
    port: places.some(({ port }) => port !== '') ? places.map(({ port }) => port).join() : '',
    dbname: database,
  }
  const found = new Map(Object.entries(named).flatMap(([name, text]) => (text === '' ? [] : [[name, decode(text)]])))
  for (const [name, value] of new URLSearchParams(query)) found.set(name, value)
  return found
}

function hostAndPort(text: string): { readonly host: string; readonly port: string } {
  const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(text) ?? []
  return { host: host.replace(/^\[|\]$/g, ''), port }
}

/** One port counts for all hosts, as in libpq. */
function hostsOf(hosts: string, ports: string): PostgresAddress['hosts'] {
  const numbers = ports.split(',').map((port) => Number(port || 5432))
  if (numbers.some((port) => !Number.isInteger(port) || port < 1 || port > 65_535))
    throw wrongAddress('The address of the shared store has a port that is not between 1 and 65535.')
  return hosts.split(',').map((host, index) => ({ host, port: numbers[index] ?? (numbers[0] as number) }))
}

function tlsOf(part: (name: string, variable: string) => string | undefined, hosts: PostgresAddress['hosts']) {
  const mode = part('sslmode', 'PGSSLMODE') ?? 'disable'
  if (mode === 'disable' || hosts.every(({ host }) => host.startsWith('/'))) return false
  if (!['require', 'verify-ca', 'verify-full'].includes(mode))
    throw wrongAddress(`sslmode=${mode} is not supported. Use disable, require, verify-ca or verify-full.`)
  const root = part('sslrootcert', 'PGSSLROOTCERT')
  const file = (path: string | undefined) => (path === undefined ? undefined : pem(path))
  return {
    rejectUnauthorized: mode !== 'require',
    ...(mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
    ...(root !== 'system' && { ca: file(root) }),
    cert: file(part('sslcert', 'PGSSLCERT')),
    key: file(part('sslkey', 'PGSSLKEY')),
  }
}

function pem(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw wrongAddress(`A certificate of the shared store cannot be read: ${thrownMessage(cause)}.`)
  }
}

function wrongAddress(message: string): UsageError {
  const remedy =
    'Use --store postgres://host:5432/database. Put a password into VOXMUX_STORE, PGPASSWORD or a passfile.'
  return new UsageError('ERR_STORE_ADDRESS', message, { remedies: [remedy] })
}

/** Server and login whose password is searched. */
interface PasswordQuery {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
}

/**
 * Searches a password file of libpq: lines of `host:port:database:user:password`. `*` matches anything, and `\` escapes a
 * colon.
 *
 * @returns undefined if no line matches
 * @throws UsageError `ERR_STORE_REFUSED` if the file cannot be read, or by others than its owner
 */
function passwordFrom(file: string, { host, port, database, user }: PasswordQuery): string | undefined {
  const wanted = [host, String(port), database, user]
  for (const line of readPrivate(file).split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const fields = (line.match(/(?:\\.|[^:\\])*(?::|$)/g) ?? []).map((field) =>
      field.replace(/:$/, '').replace(/\\(.)/g, '$1'),
    )
    if (wanted.every((value, index) => fields[index] === '*' || fields[index] === value)) return fields[4]
  }
  return undefined
}

function readPrivate(file: string): string {
  const refuse = (message: string, remedy: string) =>
    new UsageError('ERR_STORE_REFUSED', message, { remedies: [remedy] })
  try {
    if (process.platform !== 'win32' && statSync(file).mode & 0o077)
      throw refuse('Other users can read the password file of the store.', `chmod 0600 ${file}`)
    return readFileSync(file, 'utf8')
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown
    const message = `The password file of the store cannot be read: ${thrownMessage(thrown)}.`
    throw refuse(message, 'Correct `passfile` in the address, or PGPASSFILE.')
  }
}
