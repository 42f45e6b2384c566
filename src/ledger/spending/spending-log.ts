import { PrecheckError } from '../../core/errors.js'
import type { SqliteFile } from '../database/sqlite-file.js'

/** Paid and reserved seconds of one day. */
export interface DaySpending {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string
  readonly committedSec: number
  /** Reserved, but neither committed nor released: in progress, or left by a crash. */
  readonly reservedSec: number
}

export interface SpendingLimit {
  /** Null: no limit. */
  readonly maxSecondsPerDay: number | null
}

/**
 * Spending per day (UTC), over all processes. An `id` is one charged process, usually its file id. Every call may be
 * repeated, for example after a crash.
 */
export interface SpendingLog {
  /**
   * Reserves seconds before they are paid for.
   *
   * @throws {PrecheckError} `ERR_SPENDING_LIMIT` if the day's limit would be exceeded; nothing is reserved then
   */
  reserve(id: string, sec: number, limit: SpendingLimit): Promise<void>
  /** Records that they are paid for. */
  commit(id: string): Promise<void>
  /** Cancels a reservation. Committed seconds stay. */
  release(id: string): Promise<void>
  /** Ids of the last days that are reserved, and neither committed nor released. */
  reserved(): Promise<readonly string[]>
  /** @param day default today */
  spent(day?: string): Promise<DaySpending>
}

/** Number of days in which a reservation is committed or released. */
export const OPEN_DAYS = 4
export const DAY_MS = 24 * 3600 * 1000

/** {@link SpendingLog} in SQLite. */
export class SqliteSpendingLog implements SpendingLog {
  readonly #database: SqliteFile
  readonly #now: () => number

  constructor({ database, now = Date.now }: { readonly database: SqliteFile; readonly now?: () => number }) {
    this.#database = database
    this.#now = now
  }

  async reserve(id: string, sec: number, { maxSecondsPerDay }: SpendingLimit): Promise<void> {
    this.#database.transaction(() => {
      const known = this.#database.get('SELECT committed FROM spending WHERE id = ?', [id])
      if (known?.committed === 1) return
      // Replace an earlier reservation: it may be from yesterday, or of another length.
      this.#database.run('DELETE FROM spending WHERE id = ?', [id])
      const { day, committedSec, reservedSec } = this.#spent(this.#today())
      const spentSec = committedSec + reservedSec
      if (maxSecondsPerDay !== null && spentSec + sec > maxSecondsPerDay)
        throw overLimit(spentSec, sec, maxSecondsPerDay)
      this.#database.run('INSERT INTO spending (id, day, sec, committed, created_ms) VALUES (?, ?, ?, 0, ?)', [
        id,
        day,
        sec,
        this.#now(),
      ])
    })
  }

  async commit(id: string): Promise<void> {
    this.#database.run('UPDATE spending SET committed = 1 WHERE id = ?', [id])
  }

  async release(id: string): Promise<void> {
    this.#database.run('DELETE FROM spending WHERE id = ? AND committed = 0', [id])
  }

  async reserved(): Promise<readonly string[]> {
    const since = dayOf(this.#now() - (OPEN_DAYS - 1) * DAY_MS)
    const rows = this.#database.all('SELECT id FROM spending WHERE committed = 0 AND day >= ?', [since])
    return rows.map(({ id }) => String(id))
  }

  async spent(day: string = this.#today()): Promise<DaySpending> {
    return this.#spent(day)
  }

  #spent(day: string): DaySpending {
    const row = this.#database.get(
      `SELECT coalesce(sum(sec) FILTER (WHERE committed = 1), 0) AS committed,
              coalesce(sum(sec) FILTER (WHERE committed = 0), 0) AS reserved FROM spending WHERE day = ?`,
      [day],
    )
    return { day, committedSec: Number(row?.committed), reservedSec: Number(row?.reserved) }
  }

  #today(): string {
    return dayOf(this.#now())
  }
}

/** The day of a time in Unix milliseconds, as `YYYY-MM-DD` in UTC. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/**
 * Checks in advance that seconds fit into a day's limit.
 *
 * @param spentSec committed and reserved that day
 * @throws {PrecheckError} the error of {@link overLimit}
 */
export function requireAllowance(spentSec: number, sec: number, maxSecondsPerDay: number): void {
  if (spentSec + sec > maxSecondsPerDay) throw overLimit(spentSec, sec, maxSecondsPerDay)
}

/** Creates `ERR_SPENDING_LIMIT` if today's rest is too small, or `ERR_LONGER_THAN_A_DAY` if a whole day is. */
export function overLimit(spentSec: number, sec: number, maxSecondsPerDay: number): PrecheckError {
  const [spent, more, limit] = [spentSec, sec, maxSecondsPerDay].map((value) => Number(value.toFixed(1)))
  if (sec > maxSecondsPerDay) {
    return new PrecheckError(
      'ERR_LONGER_THAN_A_DAY',
      `This needs ${more} seconds of voice, more than the limit of a whole day (${limit}).`,
      { remedies: ['Raise maxSecondsPerDay in the configuration, or send long files in parts with --chunk.'] },
    )
  }
  return new PrecheckError(
    'ERR_SPENDING_LIMIT',
    `The limit of ${limit} seconds a day would be passed: ${spent} are spent or reserved today, and this needs ${more}.`,
    { remedies: ['Run again after midnight UTC, or raise maxSecondsPerDay in the configuration.'] },
  )
}
