import type { Database } from '../../../jobs/index.js'

/** What every part of the store in SQLite works with. */
export interface SqliteContext {
  readonly database: Database
  /** Unix milliseconds. */
  readonly now: () => number
}
