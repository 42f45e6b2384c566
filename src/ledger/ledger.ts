import type { Logger } from '../core/logger.js'
import type { Database } from './database/database.js'
import { LEDGER_MIGRATIONS } from './database/schema.js'
import { openSqliteDatabase } from './database/sqlite-database.js'
import { requireSqliteFile } from './database/sqlite-file.js'
import type { JobStore } from './jobs/job-store.js'
import { sqlJobStore } from './jobs/sql-job-store.js'
import { type Holder, thisHolder } from './leases/holder.js'
import { forgetOldHolders } from './leases/leases.js'
import { exportRows, importRows, type LedgerRow } from './ledger-rows.js'
import { LimitsLearned } from './spending/limits-learned.js'
import { SpendingLog } from './spending/spending-log.js'
import { VoiceLedger } from './voices/voice-ledger.js'

/**
 * Reports files that ended at the service, from the process that receives webhooks to all others of a store. It only
 * saves time: a process that misses a report polls the service. A message without a listener is dropped.
 */
export interface FileNews {
  tell(fileId: string): Promise<void>
  /** @returns a function that stops listening */
  listen(hear: (fileId: string) => void): Promise<() => Promise<void>>
}

/** The stored state of voxmux: jobs, voices, spending and limits. */
export interface Ledger {
  readonly jobs: JobStore
  readonly voices: VoiceLedger
  readonly spending: SpendingLog
  readonly limits: LimitsLearned
  /** Its rows, to move them to another ledger. */
  readonly rows: {
    export(): AsyncIterable<LedgerRow>
    /** @returns how many rows were new */
    import(rows: AsyncIterable<LedgerRow>): Promise<number>
  }
  /** Absent for a ledger on a single machine. */
  readonly news?: FileNews
  close(): Promise<void>
}

interface LedgerOptions {
  /** Unix milliseconds; default: the system clock. */
  readonly now?: (() => number) | undefined
  /** Holder of new leases; default: this process. */
  readonly holder?: Holder
  /** Voices unused for longer are forgotten; default {@link KEEP_VOICES_MS}. */
  readonly keepVoicesMs?: number
}

/** Options of a ledger on PostgreSQL; see `openSharedLedger`. */
export interface SharedLedgerOptions extends LedgerOptions {
  /** Begins the names of all tables; default `ledger`. */
  readonly prefix?: string
  /** How long a call waits for a server that is unreachable or full before it throws; default ten minutes. */
  readonly patienceMs?: number
  readonly logger?: Logger | undefined
}

/** Opens the ledger in a SQLite file. Creates it if it does not exist. @throws as `openSqliteFile` does */
export async function openLedger(file: string, options: LedgerOptions = {}): Promise<Ledger> {
  return ledgerIn(await openSqliteDatabase(file, LEDGER_MIGRATIONS, options), options)
}

/** Requires that this voxmux can use a ledger that exists, without updating it. @throws as `openSqliteFile` does */
export function requireLedger(file: string): void {
  requireSqliteFile(file, LEDGER_MIGRATIONS.length)
}

/** The ledger in an open database of `LEDGER_MIGRATIONS`. It closes the database. */
export async function ledgerIn(database: Database, options: LedgerOptions): Promise<Ledger> {
  const context = { holder: thisHolder(), ...options, database }
  await forgetOldHolders(database, context.holder)
  return {
    jobs: sqlJobStore(context),
    voices: new VoiceLedger(context),
    spending: new SpendingLog(context),
    limits: new LimitsLearned(context),
    rows: { export: () => exportRows(database), import: (rows) => importRows(database, rows) },
    close: () => database.close(),
  }
}
