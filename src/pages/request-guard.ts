import type { IncomingHttpHeaders } from 'node:http'
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
  /** Valid values of the Host header, in lower case, with the port unless it is 80. */
  readonly hosts: ReadonlySet<string>
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
export function refusalOf({ method, headers }: RequestHead, { hosts, token }: GuardOptions): Refusal | null {
  const host = headers.host?.toLowerCase()
  if (host === undefined || !hosts.has(host)) return { status: 421, message: OTHER_HOST }
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

/** The Host values of a browser for a server at this address and port, and the further names that are allowed. */
export function allowedHosts(address: string, port: number, names: readonly string[]): ReadonlySet<string> {
  const own = ['127.0.0.1', 'localhost', '[::1]', address.includes(':') ? `[${address}]` : address]
  const withPort = own.map((name) => (port === 80 ? name : `${name}:${port}`))
  return new Set([...withPort, ...names].map((name) => name.toLowerCase()))
}
