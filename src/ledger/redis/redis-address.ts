import type { RedisOptions } from 'ioredis'
import { UsageError } from '../../core/errors.js'

/** The parsed address of a store. */
export interface RedisAddress {
  /** Host and login. */
  readonly target: RedisOptions
  /** Number of replicas that must have a write before it counts as done. 0: the server is enough. */
  readonly replicas: number
  /** Separates the keys of several farms on one Redis. Null for the farm without a name. */
  readonly farm: string | null
}

const SENTINEL_PORT = 26_379
/** Pause before asking the sentinels again if none of them answers. */
const SENTINEL_WAIT_MS = 500

/**
 * Reads an address:
 *
 * - `redis://[user:password@]host[:port][/number]`, with `rediss:` for TLS, or the path of a Unix socket.
 * - `?sentinel=NAME`: the host is a sentinel, and `also=host:port,…` are others. Each connection asks them for the
 *   address of the server NAME. User, password and number are those of that server.
 * - `?replicas=N`: a write is done when N replicas have it too.
 * - `?farm=NAME`: separates the keys from those of other farms on the same Redis.
 *
 * @throws UsageError `ERR_STORE_ADDRESS`
 */
export function parseRedisAddress(address: string): RedisAddress {
  if (address.startsWith('/')) return { target: { path: address }, replicas: 0, farm: null }
  const url = URL.canParse(address) ? new URL(address) : null
  if (url === null || !/^rediss?:$/.test(url.protocol) || url.hostname === '') throw wrongAddress()
  const replicas = Number(url.searchParams.get('replicas') ?? 0)
  if (!Number.isInteger(replicas) || replicas < 0) throw wrongAddress()
  const farm = url.searchParams.get('farm')
  if (farm !== null && !/^[\w.-]{1,100}$/.test(farm)) throw wrongAddress()
  const db = Number(url.pathname.slice(1) || 0)
  if (!Number.isInteger(db)) throw wrongAddress()
  const access = {
    db,
    ...(url.username !== '' && { username: decodeURIComponent(url.username) }),
    ...(url.password !== '' && { password: decodeURIComponent(url.password) }),
    ...(url.protocol === 'rediss:' && { tls: {} }),
  }
  const name = url.searchParams.get('sentinel')
  if (name === null) return { target: { ...hostOf(url.host, 6379), ...access }, replicas, farm }
  const others = url.searchParams.get('also')?.split(',') ?? []
  const sentinels = [url.host, ...others].map((host) => hostOf(host, SENTINEL_PORT))
  return {
    target: {
      ...{ sentinels, name, ...access, sentinelRetryStrategy: () => SENTINEL_WAIT_MS },
      ...(url.protocol === 'rediss:' && { enableTLSForSentinelMode: true }),
    },
    replicas,
    farm,
  }
}

/**
 * Prefix of the keys of a farm. The braces make a Redis Cluster keep all of them on one node, which scripts need.
 *
 * @param part the part of voxmux that owns the keys
 */
export function keyPrefix(part: string, farm: string | null): string {
  return `{${farm === null ? '' : `${farm}:`}${part}}`
}

function hostOf(text: string, defaultPort: number): { readonly host: string; readonly port: number } {
  const url = URL.canParse(`redis://${text}`) ? new URL(`redis://${text}`) : null
  if (url === null || url.hostname === '') throw wrongAddress()
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || defaultPort) }
}

function wrongAddress(): UsageError {
  return new UsageError('ERR_STORE_ADDRESS', 'The address of the job store is not an address of Redis.', {
    remedies: [
      'Use --store redis://host:6379. Put an address with a password into VOXMUX_STORE.',
      'For a server with sentinels, use redis://sentinel-1:26379?sentinel=NAME&also=sentinel-2:26379.',
    ],
  })
}
