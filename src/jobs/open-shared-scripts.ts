import { storePackagesMissing } from './open-shared-ledger.js'
import type { SharedScripts, SharedScriptsOptions } from './shared-scripts.js'

/**
 * Connects to a store on Redis for scripts of one's own. ioredis is loaded only here.
 *
 * @param address as of `openSharedLedger`
 * @throws as `openSharedLedger` does
 */
export async function openSharedScripts(address: string, options: SharedScriptsOptions): Promise<SharedScripts> {
  const { openRedisScripts } = await import('./redis/open-redis-scripts.js').catch(storePackagesMissing)
  return openRedisScripts(address, options)
}
