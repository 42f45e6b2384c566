import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns'
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Every IPv4 range outside the public internet (IANA special-purpose registry, multicast, reserved). */
const CLOSED_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, cloud metadata
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
]

/** Ranges of 2000::/3 outside the public internet, or with an IPv4 address inside. */
const CLOSED_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23], // protocol assignments, Teredo
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: an IPv4 address inside
  ['3fff::', 20], // documentation
]

const closed = new BlockList()
for (const [network, prefix] of CLOSED_V4) closed.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of CLOSED_V6) closed.addSubnet(network, prefix, 'ipv6')

/** The only allocated part of IPv6. Loopback, private, link-local, mapped, NAT64 and multicast lie outside. */
const globalV6 = new BlockList()
globalV6.addSubnet('2000::', 3, 'ipv6')

/** Thrown for an address outside the public internet. */
export class PrivateAddressError extends Error {
  readonly code = 'ERR_PRIVATE_ADDRESS'
}

/** True if a numeric address belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !closed.check(address, 'ipv4')
    case 6:
      return globalV6.check(address, 'ipv6') && !closed.check(address, 'ipv6')
    default:
      return false
  }
}

/** Checks the host of a URL if it is a numeric address, for which no name is looked up. */
export function assertPublicHost(url: URL): void {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new PrivateAddressError('The address is not public.')
}

/** Looks up all addresses of a name, as `dns.lookup` with `all` does. */
type LookupAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * A `lookup` for `node:http` that refuses names with an address that is not public. It runs at connection time and
 * returns the addresses that it checked, so a name cannot change between check and use.
 */
export function guardedLookup(lookupAll: LookupAll): LookupFunction {
  return (hostname, options, callback) => {
    lookupAll(hostname, { ...options, all: true }, (error, addresses) => {
      const found: LookupAddress[] = addresses ?? []
      // Check all addresses: a name with one private address is not trusted at all.
      const refused = found.find(({ address }) => !isPublicAddress(address))
      if (error) callback(error, '', 0)
      else if (refused || !found[0])
        callback(new PrivateAddressError('The name resolves to an address that is not public.'), '', 0)
      else if (options.all) callback(null, found)
      else callback(null, found[0].address, found[0].family)
    })
  }
}

/** {@link guardedLookup} of the system's resolver. */
export const publicLookup: LookupFunction = guardedLookup(lookup)

/** Checks an address before anything is sent to it. @throws {PrivateAddressError} or an error of the resolver */
export async function requirePublicAddress(url: URL): Promise<void> {
  assertPublicHost(url)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0) return
  await new Promise<void>((resolve, reject) => {
    publicLookup(host, { all: true }, (error) => (error ? reject(error) : resolve()))
  })
}

interface GuardedRequest {
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Connects to private addresses too, because an operator trusts the network. */
  readonly allowPrivate: boolean
  /** Time limit until the response's headers, and between two bytes afterwards, in milliseconds. */
  readonly idleTimeoutMs: number
  readonly signal: AbortSignal
}

/**
 * Sends one request to an address that a user or client chose. Only http and https; no redirects, proxy or pooled
 * connection, so the checked address is the connected one.
 *
 * @throws {PrivateAddressError} or an error of `node:http`
 */
export async function guardedRequest(url: URL, asked: GuardedRequest): Promise<IncomingMessage> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Error('Only http and https are allowed.')
  if (!asked.allowPrivate) assertPublicHost(url)
  const options: RequestOptions = {
    method: asked.method,
    headers: { 'user-agent': 'voxmux', ...asked.headers },
    agent: false,
    signal: asked.signal,
    timeout: asked.idleTimeoutMs,
    ...(!asked.allowPrivate && { lookup: publicLookup }),
  }
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options, resolve)
    request.on('timeout', () => request.destroy(new Error('The other side stopped responding.')))
    request.on('error', reject)
    // A switch to another protocol (101) is neither a response nor an error.
    request.on('close', () => reject(new Error('The connection was closed without a response.')))
    // As bytes: Node would join a string to the headers and encode both in its encoding.
    request.end(typeof asked.body === 'string' ? Buffer.from(asked.body) : asked.body)
  })
}
