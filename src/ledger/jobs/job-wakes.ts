import { DAY_MS } from '../../core/time.js'
import type { Transaction } from '../database/database.js'
import type { ExpediteFilter } from './job-store.js'

/**
 * A delayed job waits by the wall clock. If the clock is set back by hours, it would wait for hours. A job is due at
 * once if its delay was recorded more than this far in the future.
 */
const CLOCK_SLACK_MS = 60_000
/** A longer delay was requested on purpose and is not a retry. */
const LONGEST_WAIT_MS = 2 * DAY_MS

const AWAKE = 'not_before_ms = NULL, ready = 1'

/** Makes jobs ready whose time has come. */
export const WAKE_DELAYED = wake('not_before_ms <= ?')

/** Makes jobs ready that were delayed before the clock was set back. A job with a requested time keeps it. */
const WAKE_SET_BACK = wake('updated_ms > ? AND not_before_ms - updated_ms <= ? AND attempts > 0')

function wake(condition: string) {
  return ({ dialect }: Pick<Transaction, 'dialect'>): string => `
    UPDATE jobs SET ${AWAKE} WHERE ${dialect.isIn(
      'id',
      `SELECT id FROM jobs INDEXED BY jobs_delayed
       WHERE not_before_ms IS NOT NULL AND ${condition} ${dialect.lockFree}`,
    )}`
}

export async function wakeDelayed(tx: Transaction): Promise<void> {
  await tx.run(WAKE_DELAYED(tx), [tx.nowMs])
}

export async function wakeSetBack(tx: Transaction): Promise<void> {
  await tx.run(WAKE_SET_BACK(tx), [tx.nowMs + CLOCK_SLACK_MS, LONGEST_WAIT_MS])
}

/** Makes some jobs ready that wait for their retry. @returns their number */
export async function expedite(
  tx: Transaction,
  { codes, limit, putOffForMs = 0, groups }: ExpediteFilter,
): Promise<number> {
  const { isIn, isOneOf, jsonText, lockFree } = tx.dialect
  const waiting = `
    SELECT id FROM jobs INDEXED BY jobs_delayed
    WHERE not_before_ms IS NOT NULL AND status = 'queued' AND attempts > 0
      AND updated_ms <= ?1 AND not_before_ms - updated_ms <= ?2
      AND ${isOneOf(jsonText('error', 'code'), '?3')}
      AND (CAST(?4 AS TEXT) IS NULL OR ${isOneOf('grp', '?4')})
      AND grp NOT IN (SELECT grp FROM pauses) AND NOT EXISTS (SELECT 1 FROM pauses WHERE grp = '')
    ORDER BY not_before_ms LIMIT ?5 ${lockFree}`
  const { changes } = await tx.run(`UPDATE jobs SET ${AWAKE} WHERE ${isIn('id', waiting)}`, [
    tx.nowMs - putOffForMs,
    LONGEST_WAIT_MS,
    JSON.stringify(codes),
    groups ? JSON.stringify(groups) : null,
    limit,
  ])
  return changes
}
