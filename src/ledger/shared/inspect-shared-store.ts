import type { SharedStoreReport } from '../shared-store-report.js'
import { storePackagesMissing } from './open-shared-ledger.js'

/**
 * Reads the configuration of a store's Redis.
 *
 * @throws as `openSharedLedger` does
 */
export async function inspectSharedStore(address: string): Promise<SharedStoreReport> {
  const { inspectRedis } = await import('../redis/inspect-redis.js').catch(storePackagesMissing)
  return inspectRedis(address)
}
