import { type Logger, silentLogger } from '../../core/logger.js'
import { thisHolder } from '../holder.js'
import type { LedgerOptions } from '../ledger.js'
import { openBull } from './bull-recorder.js'
import { connectRedis, disconnectRedis } from './redis-client.js'
import { RedisJobStore } from './redis-job-store.js'
import { RedisScripts } from './redis-scripts.js'

export interface RedisLedgerOptions extends LedgerOptions {
  /** What all keys begin with. */
  readonly prefix?: string
  /** How long a call waits for a Redis that is away or full; default ten minutes. */
  readonly patienceMs?: number
  readonly logger?: Logger
}

const PATIENCE_MS = 600_000

export async function openRedisLedger(address: string, options: RedisLedgerOptions = {}) {
  const { prefix: name = 'voxmux', now, holder = thisHolder(), logger = silentLogger } = options
  const prefix = `{${name}}`
  const client = await connectRedis(address)
  try {
    const bull = await openBull(client, prefix)
    const patienceMs = options.patienceMs ?? PATIENCE_MS
    const scripts = new RedisScripts({ client, bull, prefix, now, logger, patienceMs })
    const jobs = new RedisJobStore({ client, bull, scripts, prefix, holder })
    return { jobs, close: () => disconnectRedis(client) }
  } catch (error) {
    await disconnectRedis(client)
    throw error
  }
}
