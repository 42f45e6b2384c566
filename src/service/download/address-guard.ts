import { type LookupAddress, lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Everything but the public internet of IPv4 (IANA special-purpose registry, multicast, reserved). */
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

/** Parts of 2000::/3 that are not the public internet, or that carry an IPv4 address inside. */
const CLOSED_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23], // protocol assignments, Teredo
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: an IPv4 address inside
  ['3fff::', 20], // documentation
]

const closed = new BlockList()
for (const [network, prefix] of CLOSED_V4) closed.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of CLOSED_V6) closed.addSubnet(network, prefix, 'ipv6')

/** Only this part of IPv6 is given out: loopback, private, link-local, mapped, NAT64 and multicast lie outside. */
const globalV6 = new BlockList()
globalV6.addSubnet('2000::', 3, 'ipv6')

/** The address is not one of the public internet. */
export class PrivateAddressError extends Error {
  readonly code = 'ERR_PRIVATE_ADDRESS'
}

/** Whether a numeric address belongs to the public internet. */
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

/** Checks the host of an address that is written as a number: no name is looked up for it. */
export function assertPublicHost(url: URL): void {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new PrivateAddressError('The address is not public.')
}

/**
 * A `lookup` for `node:http` that refuses names which lead to an address that is not public. It runs when the
 * connection is made and hands over exactly what it checked, so a name cannot change its mind in between.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const found: LookupAddress[] = addresses ?? []
    // All of them: a name with one public and one private address is not to be trusted with either.
    const refused = found.find(({ address }) => !isPublicAddress(address))
    if (error) callback(error, '', 0)
    else if (refused || !found[0])
      callback(new PrivateAddressError('The name leads to an address that is not public.'), '', 0)
    else if (options.all) callback(null, found)
    else callback(null, found[0].address, found[0].family)
  })
}
