import { storePackagesMissing } from './open-shared-ledger.js'
import type { SharedStoreReport } from './shared-store-report.js'

/**
 * Asks the Redis of a store how it is set up.
 *
 * @throws as `openSharedLedger` does
 */
export async function inspectSharedStore(address: string): Promise<SharedStoreReport> {
  const { inspectRedis } = await import('./redis/inspect-redis.js').catch(storePackagesMissing)
  return inspectRedis(address)
}
