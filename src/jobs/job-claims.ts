import { CLOCK_SLACK_MS, LONGEST_WAIT_MS } from './clock-set-back.js'
import type { Database } from './database.js'
import type { Holder } from './holder.js'
import type { ClaimOptions, HastenFilter, JobLease } from './job-store.js'
import { newLease } from './leases.js'

/** Takes one given job that nobody holds and that has not ended. Call inside a transaction. */
export function claimByKey(
  database: Database,
  holder: Holder,
  key: string,
  nowMs: number,
  expiresMs: number,
): JobLease | null {
  const row = database.get(
    `SELECT id, grp FROM jobs WHERE key = ? AND lease_token IS NULL AND status IN ('queued', 'waiting-remote')`,
    [key],
  )
  return row ? take(database, holder, String(row.id), nowMs, expiresMs) : null
}

/**
 * Each group's best ready job (an index seek a group), and of those the highest priority, then the group whose last
 * turn is longest ago, then the oldest. `?1`: JSON list of groups, or null for all; `?2`: of those to leave out.
 */
export const NEXT_JOB = `
  SELECT jobs.id, jobs.grp FROM turns
  JOIN jobs ON jobs.id = (
    SELECT best.id FROM jobs AS best INDEXED BY jobs_ready
    WHERE best.grp = turns.grp AND best.ready = 1 ORDER BY best.priority DESC, best.id LIMIT 1
  )
  WHERE (?1 IS NULL OR turns.grp IN (SELECT value FROM json_each(?1)))
    AND turns.grp NOT IN (SELECT value FROM json_each(?2))
    AND turns.grp NOT IN (SELECT grp FROM pauses)
  ORDER BY jobs.priority DESC, turns.served, jobs.id LIMIT 1`

/** Makes the jobs ready whose time has come: only one that waits, free and not ended, has a time. */
export const WAKE_DELAYED = `
  UPDATE jobs INDEXED BY jobs_delayed SET not_before_ms = NULL, ready = 1
  WHERE not_before_ms IS NOT NULL AND not_before_ms <= ?`

/** Makes the jobs ready that were put off by a clock that was set back since; one that was ordered for a time keeps it. */
export function wakeSetBack(database: Database, nowMs: number): void {
  database.run(
    `UPDATE jobs INDEXED BY jobs_delayed SET not_before_ms = NULL, ready = 1
     WHERE not_before_ms IS NOT NULL AND updated_ms > ? AND not_before_ms - updated_ms <= ? AND attempts > 0`,
    [nowMs + CLOCK_SLACK_MS, LONGEST_WAIT_MS],
  )
}

/** Makes some of the jobs ready that wait for their next try after a failure. Call inside a transaction. @returns how many */
export function hasten(
  database: Database,
  { codes, limit, putOffForMs = 0, groups }: HastenFilter,
  nowMs: number,
): number {
  return database.run(
    `UPDATE jobs SET not_before_ms = NULL, ready = 1 WHERE id IN (
       SELECT id FROM jobs INDEXED BY jobs_delayed
       WHERE not_before_ms IS NOT NULL AND status = 'queued' AND attempts > 0
         AND updated_ms <= ?1 AND not_before_ms - updated_ms <= ?2
         AND json_extract(error, '$.code') IN (SELECT value FROM json_each(?3))
         AND (?4 IS NULL OR grp IN (SELECT value FROM json_each(?4)))
         AND grp NOT IN (SELECT grp FROM pauses) AND NOT EXISTS (SELECT 1 FROM pauses WHERE grp = '')
       ORDER BY not_before_ms LIMIT ?5)`,
    [nowMs - putOffForMs, LONGEST_WAIT_MS, JSON.stringify(codes), groups ? JSON.stringify(groups) : null, limit],
  ).changes
}

/** Takes the next job, if there is one. Call inside a transaction. */
export function claimNext(
  database: Database,
  holder: Holder,
  { groups, exceptGroups = [] }: Pick<ClaimOptions, 'groups' | 'exceptGroups'>,
  nowMs: number,
  expiresMs: number,
): JobLease | null {
  database.run(WAKE_DELAYED, [nowMs])
  if (database.get("SELECT 1 FROM pauses WHERE grp = ''")) return null
  const row = database.get(NEXT_JOB, [groups ? JSON.stringify(groups) : null, JSON.stringify(exceptGroups)])
  if (!row) return null
  database.run('UPDATE turns SET served = (SELECT max(served) + 1 FROM turns) WHERE grp = ?', [String(row.grp)])
  return take(database, holder, String(row.id), nowMs, expiresMs)
}

function take(database: Database, holder: Holder, jobId: string, nowMs: number, expiresMs: number): JobLease {
  const lease = newLease(database, holder, expiresMs)
  database.run(
    `UPDATE jobs SET status = 'working', ready = 0, not_before_ms = NULL, attempts = attempts + 1, updated_ms = ?,
       lease_token = ?, lease_holder = ?, lease_expires_ms = ? WHERE id = ?`,
    [nowMs, lease.token, lease.holderId, expiresMs, jobId],
  )
  return { jobId, token: lease.token, expiresMs }
}
