import { PrecheckError } from '../../core/errors.js'
import { DAY_MS } from '../../core/time.js'
import type { Database, Statements } from '../database/database.js'

/** Paid and reserved seconds of one day. */
interface DaySpending {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string
  readonly committedSec: number
  /** Reserved, but neither committed nor released: in progress, or left by a crash. */
  readonly reservedSec: number
}

/** Number of days in which a reservation is committed or released. */
const OPEN_DAYS = 4

/**
 * Id of one charged process. It names the voice too: two services, or one that lost its database, give the same id to
 * two files.
 */
export const chargeId = (voiceKey: string, fileId: string): string => `${voiceKey} ${fileId}`

/** Spending per day (UTC), over all processes. An `id` is a {@link chargeId}. Every call may be repeated. */
export class SpendingLog {
  readonly #database: Database

  constructor({ database }: { readonly database: Database }) {
    this.#database = database
  }

  /** Reserves seconds, or nothing. Null: no limit. @throws {PrecheckError} `ERR_SPENDING_LIMIT` if the day's limit is too small */
  async reserve(
    id: string,
    sec: number,
    { maxSecondsPerDay }: { readonly maxSecondsPerDay: number | null },
  ): Promise<void> {
    if (maxSecondsPerDay === null) return this.#reserveAny(id, sec)
    await this.#database.transaction(async (tx) => {
      const known = await tx.get('SELECT committed FROM spending WHERE id = ?', [id])
      if (known?.committed === 1) return
      const day = dayOf(tx.nowMs)
      // Only one process at a time adds to a day, and none exceeds its limit. A write, because a lock alone does not
      // show the rows of the one before to a transaction with repeatable reads.
      await tx.run('INSERT INTO spending_days (day) VALUES (?) ON CONFLICT DO NOTHING', [day])
      await tx.run('UPDATE spending_days SET day = day WHERE day = ?', [day])
      // Replace an earlier reservation: it may be from yesterday, or of another length.
      await tx.run('DELETE FROM spending WHERE id = ? AND committed = 0', [id])
      const { committedSec, reservedSec } = await spentOn(tx, day)
      requireAllowance(committedSec + reservedSec, sec, maxSecondsPerDay)
      await tx.run(
        `INSERT INTO spending (id, day, sec, committed, created_ms) VALUES (?, ?, ?, 0, ?) ON CONFLICT DO NOTHING`,
        [id, day, sec, tx.nowMs],
      )
    })
  }

  /** Without a limit, processes need not wait for each other. */
  async #reserveAny(id: string, sec: number): Promise<void> {
    const nowMs = this.#database.nowMs()
    await this.#database.run(
      `INSERT INTO spending (id, day, sec, committed, created_ms) VALUES (?, ?, ?, 0, ?)
       ON CONFLICT (id) DO UPDATE SET day = excluded.day, sec = excluded.sec, created_ms = excluded.created_ms
       WHERE spending.committed = 0`,
      [id, dayOf(nowMs), sec, nowMs],
    )
  }

  /** Records that they are paid for. @param sec counts today if nothing is reserved: the ledger is from a back-up */
  async commit(id: string, sec: number): Promise<void> {
    const nowMs = this.#database.nowMs()
    await this.#database.run(
      `INSERT INTO spending (id, day, sec, committed, created_ms) VALUES (?, ?, ?, 1, ?)
       ON CONFLICT (id) DO UPDATE SET committed = 1`,
      [id, dayOf(nowMs), sec, nowMs],
    )
  }

  /** Cancels a reservation. Committed seconds stay. */
  async release(id: string): Promise<void> {
    await this.#database.run('DELETE FROM spending WHERE id = ? AND committed = 0', [id])
  }

  /** Removes seconds that the service has not charged after all, committed or not. */
  async refund(id: string): Promise<void> {
    await this.#database.run('DELETE FROM spending WHERE id = ?', [id])
  }

  /** The reservations of the last days that are neither committed nor released. */
  async reserved(): Promise<readonly { readonly id: string; readonly sec: number }[]> {
    const since = dayOf(this.#database.nowMs() - (OPEN_DAYS - 1) * DAY_MS)
    const rows = await this.#database.all('SELECT id, sec FROM spending WHERE committed = 0 AND day >= ?', [since])
    return rows.map(({ id, sec }) => ({ id: String(id), sec: Number(sec) }))
  }

  /** Seconds of today. */
  spent(): Promise<DaySpending> {
    return spentOn(this.#database, dayOf(this.#database.nowMs()))
  }
}

async function spentOn(statements: Statements, day: string): Promise<DaySpending> {
  const row = await statements.get(
    `SELECT coalesce(sum(sec) FILTER (WHERE committed = 1), 0) AS committed,
            coalesce(sum(sec) FILTER (WHERE committed = 0), 0) AS reserved FROM spending WHERE day = ?`,
    [day],
  )
  return { day, committedSec: Number(row?.committed), reservedSec: Number(row?.reserved) }
}

/** The day of a time in Unix milliseconds, as `YYYY-MM-DD` in UTC. */
function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** Checks that seconds fit into a day's limit. @param spentSec of that day @throws as {@link overLimit} */
export function requireAllowance(spentSec: number, sec: number, maxSecondsPerDay: number): void {
  if (spentSec + sec > maxSecondsPerDay) throw overLimit(spentSec, sec, maxSecondsPerDay)
}

/** Creates `ERR_SPENDING_LIMIT` if today's rest is too small, or `ERR_LONGER_THAN_A_DAY` if a whole day is. */
function overLimit(spentSec: number, sec: number, maxSecondsPerDay: number): PrecheckError {
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
    `The limit of ${limit} seconds a day would be exceeded: ${spent} are spent or reserved today, and this needs ${more}.`,
    { remedies: ['Run again after midnight UTC, or raise maxSecondsPerDay in the configuration.'] },
  )
}
