import type { Logger } from '../core/logger.js'
import { LEDGER_MIGRATIONS } from './database/schema.js'
import { openSqliteFile } from './database/sqlite-file.js'
import type { FileNews } from './file-news.js'
import type { JobStore } from './jobs/job-store.js'
import { SqliteJobStore } from './jobs/sqlite-job-store.js'
import { type Holder, thisHolder } from './leases/holder.js'
import { forgetOldHolders } from './leases/leases.js'
import { type LimitsLearned, SqliteLimitsLearned } from './spending/limits-learned.js'
import { type SpendingLog, SqliteSpendingLog } from './spending/spending-log.js'
import { SqliteVoiceLedger } from './voices/sqlite-voice-ledger.js'
import type { VoiceLedger } from './voices/voice-ledger.js'

/** The stored state of voxmux: jobs, voices, spending and limits. */
export interface Ledger {
  readonly jobs: JobStore
  readonly voices: VoiceLedger
  readonly spending: SpendingLog
  readonly limits: LimitsLearned
  /** Absent for a ledger on a single machine. */
  readonly news?: FileNews
  close(): Promise<void>
}

export interface LedgerOptions {
  /** Unix milliseconds; default: the system clock. */
  readonly now?: () => number
  /** Holder of new leases; default: this process. */
  readonly holder?: Holder
  /** Voices unused for longer are forgotten; default {@link KEEP_VOICES_MS}. */
  readonly keepVoicesMs?: number
}

/** Options of a ledger on Redis; see `openSharedLedger`. */
export interface SharedLedgerOptions extends LedgerOptions {
  /** Prefix of all keys; default `voxmux`. */
  readonly prefix?: string
  /** How long a call waits for a Redis that is unreachable or full before it throws; default ten minutes. */
  readonly patienceMs?: number
  readonly logger?: Logger
}

/**
 * Opens the ledger in a SQLite file. Creates it if it does not exist.
 *
 * @throws as `openSqliteFile` does
 */
export async function openLedger(file: string, options: LedgerOptions = {}): Promise<Ledger> {
  const database = openSqliteFile(file, LEDGER_MIGRATIONS)
  const context = { holder: thisHolder(), ...options, database }
  database.transaction(() => forgetOldHolders(database, context.holder))
  const jobs = new SqliteJobStore(context)
  return {
    jobs,
    voices: new SqliteVoiceLedger(context),
    spending: new SqliteSpendingLog(context),
    limits: new SqliteLimitsLearned(context),
    close: () => jobs.close(),
  }
}
