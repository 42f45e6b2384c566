import { join } from 'node:path'
import { type JobStore, openLedger } from '../../jobs/index.js'
import type { ServiceStore } from './service-store.js'
import { openSqliteStore } from './sqlite/open-sqlite-store.js'

/** Where a service keeps what its nodes share. */
export interface StorePlace {
  /** Its folder. */
  readonly dataDir: string
}

/** A node's access to the store. */
export interface NodeStore {
  /** For whoever waits for an answer: where the store is away, it says so soon. */
  readonly store: ServiceStore
  /** For work that has come far: it waits for a store that is away. */
  readonly workStore: ServiceStore
  /** The queue of the files that were accepted, opened when it is first asked for. */
  jobs(): Promise<JobStore>
  /** From now on nobody waits long. */
  hurry(): void
  close(): Promise<void>
}

/** Opens the store of a service; makes what is not there. @throws what `openDatabase` throws */
export async function openNodeStore({ dataDir }: StorePlace): Promise<NodeStore> {
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
