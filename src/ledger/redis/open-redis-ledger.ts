import { silentLogger } from '../../core/logger.js'
import { thisHolder } from '../leases/holder.js'
import type { Ledger, SharedLedgerOptions } from '../ledger.js'
import { openBull } from './bull-recorder.js'
import { keyPrefix, parseRedisAddress } from './redis-address.js'
import { connectRedis, disconnectRedis } from './redis-client.js'
import { RedisFileNews } from './redis-file-news.js'
import { RedisJobStore } from './redis-job-store.js'
import { RedisLimitsLearned } from './redis-limits-learned.js'
import { RedisScripts } from './redis-scripts.js'
import { RedisSpendingLog } from './redis-spending-log.js'
import { RedisVoiceLedger } from './redis-voice-ledger.js'

/** How long a call waits for a Redis that is away. */
const PATIENCE_MS = 600_000

/** Opens the ledger of a farm. `openSharedLedger` loads this file on demand. */
export async function openRedisLedger(address: string, options: SharedLedgerOptions = {}): Promise<Ledger> {
  const {
    prefix: name = 'voxmux',
    patienceMs = PATIENCE_MS,
    now,
    holder = thisHolder(),
    keepVoicesMs,
    logger = silentLogger,
  } = options
  const { replicas, farm } = parseRedisAddress(address)
  const prefix = keyPrefix(name, farm)
  const client = await connectRedis(address, logger)
  try {
    const bull = await openBull(client, prefix)
    const scripts = new RedisScripts({ client, bull, prefix, now, replicas, logger, patienceMs })
    const context = { client, bull, scripts, prefix, holder }
    return {
      jobs: new RedisJobStore(context),
      voices: new RedisVoiceLedger({ ...context, keepVoicesMs }),
      spending: new RedisSpendingLog(context),
      limits: new RedisLimitsLearned(context),
      news: new RedisFileNews(context),
      close: () => disconnectRedis(client),
    }
  } catch (error) {
    await disconnectRedis(client)
    throw error
  }
}
