import type { Database } from '../../../ledger/index.js'

/** Shared by all parts of the SQLite store. */
export interface SqliteContext {
  readonly database: Database
  /** Unix milliseconds. */
  readonly now: () => number
}
