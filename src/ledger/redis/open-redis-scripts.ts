import { silentLogger } from '../../core/logger.js'
import type { SharedScripts, SharedScriptsOptions } from '../shared-scripts.js'
import type { Bull } from './bull-recorder.js'
import { keyPrefix, parseRedisAddress } from './redis-address.js'
import { connectRedis, disconnectRedis } from './redis-client.js'
import { RedisScripts } from './redis-scripts.js'

/** For scripts that embed none of BullMQ's. */
const NO_BULL: Bull = {
  scripts: new Map(),
  queue: () => {
    throw new Error('This connection has no queue.')
  },
}

/** Connects for scripts only. `openSharedScripts` loads this file on demand. */
export async function openRedisScripts(address: string, options: SharedScriptsOptions): Promise<SharedScripts> {
  const { prefix, now, logger = silentLogger } = options
  const { replicas, farm } = parseRedisAddress(address)
  const client = await connectRedis(address, logger)
  const common = { client, bull: NO_BULL, prefix: keyPrefix(prefix, farm), now, replicas, logger }
  return {
    runner(patienceMs) {
      const scripts = new RedisScripts({ ...common, patienceMs })
      return { run: (name, lua, values) => scripts.run(name, { lua }, values).catch(withoutValues) }
    },
    close: () => disconnectRedis(client),
  }
}

/** Removes the call from an error of Redis. Its values may be secrets, and logs must not show them. */
function withoutValues(error: unknown): never {
  if (error instanceof Error) Reflect.deleteProperty(error, 'command')
  throw error
}
