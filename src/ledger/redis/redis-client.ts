import type { Redis as RedisClient } from 'ioredis'
import { Redis } from 'ioredis'
import { VoxmuxError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import { sleep } from '../../core/time.js'
import { parseRedisAddress } from './redis-address.js'
import { storeError } from './store-errors.js'

/** How long the first connection may take. */
const CONNECT_MS = 20_000
/** A shorter interruption is not logged. */
const LOG_AFTER_MS = 1000

/**
 * Connects to Redis. A lost connection is reopened for as long as the process lives, and waiting calls are sent then. The
 * log reports both events.
 *
 * @param address see `parseRedisAddress`
 * @throws UsageError `ERR_STORE_ADDRESS`, `ERR_STORE_REFUSED`, `ERR_STORE_CERTIFICATE`; TransientError
 * `ERR_STORE_UNREACHABLE`
 */
export async function connectRedis(address: string, logger: Logger): Promise<RedisClient> {
  const { target } = parseRedisAddress(address)
  const client = new Redis({
    ...target,
    lazyConnect: true,
    maxRetriesPerRequest: null,
    enableReadyCheck: true,
    connectTimeout: 5000,
    // Detects a dead socket (a pulled cable), so that its calls are sent again.
    socketTimeout: 30_000,
    keepAlive: 10_000,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 7), 3000),
    // After a failover the old master answers READONLY: reconnect, and send the call again.
    reconnectOnError: (error) => (/^READONLY/.test(error.message) ? 2 : false),
  })
  const lastFault = followConnection(client, logger)
  try {
    await connected(client, lastFault)
    // If the number does not exist, the connection stays on database 0, with the jobs of another farm.
    if (target.db) await client.select(target.db)
    return client
  } catch (error) {
    client.disconnect()
    throw storeError(error)
  }
}

/** Closes a connection, even if Redis does not respond. */
export async function disconnectRedis(client: RedisClient): Promise<void> {
  if (client.status === 'ready') await Promise.race([client.quit().catch(() => {}), sleep(2000)])
  client.disconnect()
}

/** Logs when Redis is away, and when it is back. @returns a getter of the connection's last fault */
function followConnection(client: RedisClient, logger: Logger): () => unknown {
  let fault: unknown
  let isLogged = false
  let timer: NodeJS.Timeout | undefined
  const logAway = () => {
    isLogged = true
    const known = storeError(fault ?? new Error('Connection is closed.'))
    logger.warn({}, `${known instanceof VoxmuxError ? known.message : 'The job store does not respond.'} Retrying.`)
  }
  client.on('error', (error) => {
    fault = error
  })
  client.on('reconnecting', () => {
    if (isLogged || timer !== undefined) return
    timer = setTimeout(logAway, LOG_AFTER_MS)
    timer.unref()
  })
  const settle = () => {
    clearTimeout(timer)
    timer = undefined
  }
  client.on('ready', () => {
    settle()
    if (isLogged) logger.warn({}, 'The job store responds again.')
    isLogged = false
  })
  client.on('end', settle)
  return () => fault
}

async function connected(client: RedisClient, lastFault: () => unknown): Promise<void> {
  client.connect().catch(() => {})
  const until = Date.now() + CONNECT_MS
  while (client.status !== 'ready') {
    const error = lastFault()
    const refused = error !== undefined && (storeError(error) as { exitCode?: number }).exitCode === 2
    if (refused) throw error
    if (Date.now() > until) throw error ?? new Error('Connection is closed.')
    await sleep(20)
  }
}
