import { join } from 'node:path'
import { type Logger, silentLogger } from '../../core/logger.js'
import { type JobStore, openLedger } from '../../jobs/index.js'
import type { NodeStore } from './node-store.js'
import { openSqliteStore } from './sqlite/open-sqlite-store.js'

/** Where a service keeps what its nodes share. */
export interface StorePlace {
  /** Its folder: of the store itself, unless that is on Redis, and of the files, unless those are in a blob store. */
  readonly dataDir: string
  /** `redis://…` or `rediss://…`: the store that nodes of several machines share. */
  readonly store?: string | undefined
}

/**
 * Opens the store of a service; makes what is not there.
 *
 * @throws what `openDatabase` throws, or `openSharedLedger`
 */
export async function openNodeStore({ dataDir, store }: StorePlace, logger: Logger = silentLogger): Promise<NodeStore> {
  if (store === undefined) return openFolderStore(dataDir)
  const { openRedisNodeStore } = await import('./redis/open-redis-node-store.js')
  return openRedisNodeStore(store, { logger })
}

function openFolderStore(dataDir: string): NodeStore {
  const store = openSqliteStore(dataDir)
  let jobs: Promise<JobStore> | undefined
  return {
    store,
    workStore: store,
    jobs() {
      jobs ??= openLedger(join(dataDir, 'jobs.db')).then((ledger) => ledger.jobs)
      return jobs
    },
    hurry: () => {},
    async close() {
      await (await jobs?.catch(() => undefined))?.close()
      store.close()
    },
  }
}
