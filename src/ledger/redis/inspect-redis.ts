import { silentLogger } from '../../core/logger.js'
import type { SharedStoreReport } from '../shared-store-report.js'
import { parseRedisAddress } from './redis-address.js'
import { connectRedis, disconnectRedis } from './redis-client.js'

/** Reads the settings and the state of a Redis. `inspectSharedStore` loads this file on demand. */
export async function inspectRedis(address: string): Promise<SharedStoreReport> {
  const client = await connectRedis(address, silentLogger)
  try {
    const info = new Map(
      (await client.info()).split(/\r?\n/).flatMap((line) => {
        const colon = line.indexOf(':')
        return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1)] as const]
      }),
    )
    // Managed services refuse CONFIG. An unknown setting is not a finding.
    const setting = async (name: string) => {
      const [, value] = (await client.config('GET', name).catch(() => [])) as (string | undefined)[]
      return value ?? null
    }
    const required = await setting('min-replicas-to-write')
    return {
      version: info.get('redis_version') ?? 'unknown',
      isAppendOnly: info.get('aof_enabled') === '1',
      appendSync: await setting('appendfsync'),
      evictionPolicy: info.get('maxmemory_policy') ?? 'unknown',
      usedBytes: Number(info.get('used_memory') ?? 0),
      maxBytes: Number(info.get('maxmemory') ?? 0) || null,
      replicas: Number(info.get('connected_slaves') ?? 0),
      requiredReplicas: required === null ? null : Number(required),
      awaitedReplicas: parseRedisAddress(address).replicas,
    }
  } finally {
    await disconnectRedis(client)
  }
}
