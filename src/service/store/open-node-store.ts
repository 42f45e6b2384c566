import { join } from 'node:path'
import { type Logger, silentLogger } from '../../core/logger.js'
import { type JobStore, openLedger } from '../../ledger/index.js'
import type { NodeStore } from './node-store.js'
import { openSqliteStore } from './sqlite/open-sqlite-store.js'

/** Location of a service's shared data. */
export type StorePlace =
  /** A folder shared by the processes of one machine. */
  | { readonly dataDir: string; readonly store?: undefined }
  /** Redis (`redis://…` or `rediss://…`) shared by nodes on several machines. */
  | { readonly store: string }

/**
 * Opens the store of a service. Creates it if it does not exist.
 *
 * @throws every error of `openSqliteFile` or `openSharedLedger`
 */
export async function openNodeStore(place: StorePlace, logger: Logger = silentLogger): Promise<NodeStore> {
  if (place.store === undefined) return openFolderStore(place.dataDir)
  const { openRedisNodeStore } = await import('./redis/open-redis-node-store.js')
  return openRedisNodeStore(place.store, { logger })
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
