import type { SqliteFile } from '../../../ledger/index.js'

/** Shared by all parts of the SQLite store. */
export interface SqliteContext {
  readonly database: SqliteFile
  /** Unix milliseconds. */
  readonly now: () => number
}
