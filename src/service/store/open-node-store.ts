import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { TransientError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import {
  type Database,
  type JobStore,
  type Ledger,
  openLedger,
  openSharedDatabase,
  openSharedLedger,
  openSqliteDatabase,
} from '../../ledger/index.js'
import { type ServiceStore, sqlStore } from './service-store.js'
import { SERVICE_MIGRATIONS } from './sql/service-migrations.js'

/** Location of a service's shared data. */
export type StorePlace =
  /** A folder shared by the processes of one machine. */
  | { readonly dataDir: string; readonly store?: undefined }
  /** PostgreSQL (`postgres://…`) shared by nodes on several machines. */
  | { readonly store: string }

interface NodeStoreOptions {
  readonly logger?: Logger | undefined
  /** Unix milliseconds, for tests. Default: the clock of the store. */
  readonly now?: (() => number) | undefined
  /** For tests that share a database. */
  readonly prefix?: string | undefined
}

/** Name of the database in a data folder. */
const DATABASE = 'service.db'

/** Begins the names of the tables in a shared database. */
const PREFIX = 'service'

/** After this time a request gets 503, and its client tries another node or tries again. */
const ANSWER_PATIENCE_MS = 3000

/** How long a running file waits for a store that is away. */
const WORK_PATIENCE_MS = 600_000

/** The queue retries by itself, and the next sweep finds files that it could not write. */
const QUEUE_PATIENCE_MS = 10_000

/** How long running calls may take when a node ends. */
const LAST_PATIENCE_MS = 3000

/** True for the data folder of a service that was started or got a key before. */
export function holdsService(dataDir: string): boolean {
  return existsSync(join(dataDir, DATABASE))
}

/** Opens or creates a store. @throws as `openSqliteDatabase`, `openSharedDatabase` and `openSharedLedger` */
export async function openNodeStore(place: StorePlace, options: NodeStoreOptions = {}): Promise<NodeStore> {
  const { logger, now, prefix = PREFIX } = options
  const ending = new AbortController()
  let ledger: Promise<Ledger> | undefined
  const nodeStore = (database: Database, workDatabase: Database, open: () => Promise<Ledger>): NodeStore => ({
    store: sqlStore(database),
    workStore: sqlStore(workDatabase),
    async jobs() {
      ledger ??= open()
      return (await ledger).jobs
    },
    hurry: () => ending.abort(),
    async close() {
      await (await ledger?.catch(() => undefined))?.close()
      await database.close()
    },
  })
  if (place.store === undefined) {
    const { dataDir } = place
    const database = await openSqliteDatabase(join(dataDir, DATABASE), SERVICE_MIGRATIONS, { now })
    return nodeStore(database, database, () => openLedger(join(dataDir, 'jobs.db'), { now }))
  }
  const { store } = place
  const database = await openSharedDatabase(store, SERVICE_MIGRATIONS, { prefix, now, logger })
  const queue = { prefix: `${prefix}_queue`, patienceMs: QUEUE_PATIENCE_MS, logger, now }
  return nodeStore(
    database.withPatience(ANSWER_PATIENCE_MS),
    untilEnd(database.withPatience(WORK_PATIENCE_MS), ending.signal),
    () => openSharedLedger(store, queue),
  )
}

/** Waits as long as the database does, but only {@link LAST_PATIENCE_MS} longer once the node ends. */
function untilEnd(database: Database, ending: AbortSignal): Database {
  const bounded = <T>(call: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      const giveUp = () => {
        const message = 'The store does not respond, and the node is stopping.'
        timer = setTimeout(() => reject(new TransientError('ERR_STORE_UNREACHABLE', message)), LAST_PATIENCE_MS)
      }
      if (ending.aborted) giveUp()
      else ending.addEventListener('abort', giveUp, { once: true })
      call.then(resolve, reject).finally(() => {
        clearTimeout(timer)
        ending.removeEventListener('abort', giveUp)
      })
    })
  return {
    ...database,
    run: (...args) => bounded(database.run(...args)),
    get: (...args) => bounded(database.get(...args)),
    all: (...args) => bounded(database.all(...args)),
    transaction: (work) => bounded(database.transaction(work)),
  }
}

/** A node's access to the store. */
export interface NodeStore {
  /** For requests: fails soon if the store is not reachable. */
  readonly store: ServiceStore
  /** For files in progress: waits until the store is reachable again. */
  readonly workStore: ServiceStore
  /** The queue of accepted files. Opened by the first call. */
  jobs(): Promise<JobStore>
  /** Shortens all waits from now on, because the node stops. */
  hurry(): void
  close(): Promise<void>
}
