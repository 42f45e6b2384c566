import { UsageError } from '../core/errors.js'
import { redactUrl } from '../core/redact.js'

/** A name such as `x.localhost` is absent: the resolver of a network may answer it with another machine. */
const THIS_MACHINE = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** True for https, and for http to this machine: tokens and voices must not cross a network unencrypted. */
export function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && THIS_MACHINE.test(hostname))
}

/**
 * Reads an address to which bytes or secrets will be sent: https, or http to this machine only.
 *
 * @param what names the address in the error, for example `The service address`
 * @throws {UsageError} `ERR_BAD_ADDRESS` if it is not an http(s) address, `ERR_INSECURE_ADDRESS` for plain http
 * elsewhere
 */
export function safeAddress(address: string, what: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new UsageError('ERR_BAD_ADDRESS', `${what} is not an http(s) address: ${redactUrl(address)}.`)
  }
  if (!isSafe(url)) throw plainHttp(url, what)
  return url
}

/**
 * Reads the address of a redirect. One from https to plain http is refused, also to this machine: a storage could reach its
 * local services.
 *
 * @throws {UsageError} as {@link safeAddress}
 */
export function safeRedirect(from: string, to: string): URL {
  const what = 'A redirect of the download'
  const url = safeAddress(to, what)
  if (from.startsWith('https:') && url.protocol === 'http:') throw plainHttp(url, what)
  return url
}

function plainHttp(address: string | URL, what: string): UsageError {
  return new UsageError('ERR_INSECURE_ADDRESS', `${what} uses plain http: ${redactUrl(address)}.`, {
    remedies: ['Use https. Plain http is only allowed to this machine (127.0.0.1, localhost).'],
  })
}

/** Joins a path to a base address, and keeps the base's own path (a gateway's prefix). */
export function joinAddress(base: URL, path: string): string {
  return `${base.origin}${base.pathname.replace(/\/+$/, '')}${path}`
}
