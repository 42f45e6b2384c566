import type { SharedScripts, SharedScriptsOptions } from '../shared-scripts.js'
import { storePackagesMissing } from './open-shared-ledger.js'

/**
 * Connects to a store on Redis for further scripts. ioredis is loaded only here.
 *
 * @param address like that of `openSharedLedger`
 * @throws as `openSharedLedger` does
 */
export async function openSharedScripts(address: string, options: SharedScriptsOptions): Promise<SharedScripts> {
  const { openRedisScripts } = await import('../redis/open-redis-scripts.js').catch(storePackagesMissing)
  return openRedisScripts(address, options)
}
