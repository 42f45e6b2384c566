import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { isSameSecret } from '../core/same-secret.js'

const TOKEN_HEADER = 'x-voxmux-token'

const OTHER_HOST =
  'This host name is not served here. Open the address that voxmux printed. A dashboard also serves the names in ' +
  '`dashboard.hosts` of the configuration, each with the port that the browser shows.'

interface RequestHead {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

interface GuardOptions {
  /** Says whether a Host header, in lower case, names this server. */
  readonly isServed: (host: string) => boolean
  /** Secret of this start, which only our own page has. */
  readonly token: string
}

/** Why a request is refused. */
interface Refusal {
  readonly status: 403 | 405 | 421
  readonly message: string
}

/**
 * Decides whether a request may be served, before its path matters. A page of another site can make the operator's
 * browser send requests here. With our address, Origin, fetch metadata and the token refuse them. With a name of its
 * own that resolves to this machine, Host refuses them.
 *
 * @returns null for a request that may be served
 */
export function refusalOf({ method, headers }: RequestHead, { isServed, token }: GuardOptions): Refusal | null {
  const host = headers.host?.toLowerCase()
  if (host === undefined || !isServed(host)) return { status: 421, message: OTHER_HOST }
  switch (method) {
    case 'GET':
    case 'HEAD':
      return isForeignRead(headers) ? { status: 403, message: 'Other sites may not read this.' } : null
    case 'POST':
      return refusalOfChange(headers, host, token)
    default:
      return { status: 405, message: 'Only GET, HEAD and POST are served.' }
  }
}

/** A picture, player, script or fetch of another site. A link that a person follows is none of these. */
function isForeignRead(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site === undefined || site === 'same-origin' || site === 'none') return false
  return headers['sec-fetch-mode'] !== 'navigate' || headers['sec-fetch-dest'] !== 'document'
}

function refusalOfChange(headers: IncomingHttpHeaders, host: string, token: string): Refusal | null {
  const { origin } = headers
  // Behind a proxy that ends TLS, the page's own origin is https.
  if (origin !== `http://${host}` && origin !== `https://${host}`) {
    return { status: 403, message: 'Only its own page may change anything here (Origin).' }
  }
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') {
    return { status: 403, message: 'Only its own page may change anything here.' }
  }
  const given = headers[TOKEN_HEADER]
  if (typeof given !== 'string' || !isSameSecret(given, token)) {
    const message = `The header ${TOKEN_HEADER} is missing or of an earlier start`
    return { status: 403, message: `${message}: reload the page, or open the address that voxmux printed.` }
  }
  return null
}

/** Addresses to listen at that stand for every address of the machine. */
const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/**
 * Says which Host headers name a server at this address and port, by its own names or the further ones that are allowed.
 * A server at every address is also served under any of them, because nobody knows ahead which one a probe or Prometheus
 * uses. Unlike a name, an address cannot be made to resolve to this machine.
 */
export function servedHosts(address: string, port: number, names: readonly string[]): (host: string) => boolean {
  const end = port === 80 ? '' : `:${port}`
  const own = ['127.0.0.1', 'localhost', '[::1]', address.includes(':') ? `[${address}]` : address]
  const hosts = new Set([...own.map((name) => name + end), ...names].map((name) => name.toLowerCase()))
  const isAddress = (host: string) =>
    host.endsWith(end) && isIP(host.slice(0, host.length - end.length).replace(/^\[(.*)\]$/, '$1')) !== 0
  return (host) => hosts.has(host) || (ANY_ADDRESS.has(address) && isAddress(host))
}
