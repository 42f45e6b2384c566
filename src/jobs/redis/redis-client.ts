import type { Redis as RedisClient } from 'ioredis'
import { Redis } from 'ioredis'
import { parseRedisAddress } from './redis-address.js'
import { storeError } from './store-errors.js'

/** How long the first connection may take. */
const CONNECT_MS = 20_000

/**
 * Connects to Redis. Later on a lost connection is sought again for as long as the process lives, and what was asked
 * meanwhile is sent then.
 *
 * @param address see `parseRedisAddress`
 * @throws UsageError `ERR_STORE_ADDRESS`, `ERR_STORE_REFUSED`; TransientError `ERR_STORE_UNREACHABLE`
 */
export async function connectRedis(address: string): Promise<RedisClient> {
  let lastError: unknown
  const client = new Redis({
    ...parseRedisAddress(address).target,
    lazyConnect: true,
    maxRetriesPerRequest: null,
    enableReadyCheck: true,
    connectTimeout: 5000,
    // A socket that died without a word (a pulled cable) is noticed, and its calls are sent again elsewhere.
    socketTimeout: 30_000,
    keepAlive: 10_000,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 7), 3000),
    // After a failover the old master answers READONLY: connect anew, and send that call again.
    reconnectOnError: (error) => (/^READONLY/.test(error.message) ? 2 : false),
  })
  client.on('error', (error) => {
    lastError = error
  })
  try {
    await connected(client, () => lastError)
    return client
  } catch (error) {
    client.disconnect()
    throw storeError(error)
  }
}

/** Ends a connection, whether Redis answers or not. */
export async function disconnectRedis(client: RedisClient): Promise<void> {
  if (client.status === 'ready') await Promise.race([client.quit().catch(() => {}), pause(2000)])
  client.disconnect()
}

async function connected(client: RedisClient, reason: () => unknown): Promise<void> {
  client.connect().catch(() => {})
  const until = Date.now() + CONNECT_MS
  while (client.status !== 'ready') {
    const error = reason()
    const refused = error !== undefined && (storeError(error) as { exitCode?: number }).exitCode === 2
    if (refused) throw error
    if (Date.now() > until) throw error ?? new Error('Connection is closed.')
    await pause(20)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
