import type { Logger } from '../core/logger.js'
import { openDatabase } from './database.js'
import type { FileNews } from './file-news.js'
import { type Holder, thisHolder } from './holder.js'
import type { JobStore } from './job-store.js'
import { forgetOldHolders } from './leases.js'
import { type LimitsLearned, SqliteLimitsLearned } from './limits-learned.js'
import { LEDGER_MIGRATIONS } from './schema.js'
import { type SpendingLog, SqliteSpendingLog } from './spending-log.js'
import { SqliteJobStore } from './sqlite-job-store.js'
import { SqliteVoiceLedger } from './sqlite-voice-ledger.js'
import type { VoiceLedger } from './voice-ledger.js'

/** Everything that voxmux remembers of its work, in one place. */
export interface Ledger {
  readonly jobs: JobStore
  readonly voices: VoiceLedger
  readonly spending: SpendingLog
  readonly limits: LimitsLearned
  /** Absent where one machine has the ledger alone. */
  readonly news?: FileNews
  close(): Promise<void>
}

export interface LedgerOptions {
  /** Unix milliseconds; default the clock. */
  readonly now?: () => number
  /** Whose leases are made; default this process. */
  readonly holder?: Holder
  /** Voices unused for longer are forgotten; default {@link KEEP_VOICES_MS}. */
  readonly keepVoicesMs?: number
}

/** Of a ledger on Redis; see `openSharedLedger`. */
export interface SharedLedgerOptions extends LedgerOptions {
  /** What all keys begin with; default `voxmux`. */
  readonly prefix?: string
  /** How long a call waits for a Redis that is away or full before it throws; default ten minutes. */
  readonly patienceMs?: number
  readonly logger?: Logger
}

/**
 * Opens (or makes) the ledger in a SQLite file.
 *
 * @throws as `openDatabase` does
 */
export async function openLedger(file: string, options: LedgerOptions = {}): Promise<Ledger> {
  const database = openDatabase(file, LEDGER_MIGRATIONS)
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
