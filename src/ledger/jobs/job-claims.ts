import type { SqliteFile } from '../database/sqlite-file.js'
import { CLOCK_SLACK_MS, LONGEST_WAIT_MS } from '../leases/clock-set-back.js'
import type { Holder } from '../leases/holder.js'
import { newLease } from '../leases/leases.js'
import type { ClaimOptions, ExpediteFilter, JobLease } from './job-store.js'

/** Claims a given job that has no holder and has not ended. Call inside a transaction. */
export function claimByKey(
  database: SqliteFile,
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
 * Selects the next job. Finds the best ready job of each group with one index seek. Among them, the highest priority
 * wins, then the group with the oldest turn, then the oldest job. Parameter `?1` is a JSON list of groups, or null for
 * all. Parameter `?2` lists groups to leave out.
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

/** Jobs that a claim can act on: ready ones, held ones whose process may be gone, and the next delayed one. */
export const CLAIMABLE = `
  SELECT EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_ready WHERE ready = 1) AS ready,
         EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_expiring WHERE lease_token IS NOT NULL) AS held,
         (SELECT min(not_before_ms) FROM jobs INDEXED BY jobs_delayed WHERE not_before_ms IS NOT NULL) AS due_ms`

/**
 * True if a claim cannot find a job. A worker asks every second, and this reads three index entries without a
 * transaction.
 *
 * @param wasSetBack the clock was set back since the last claim, so any delayed job may be due
 */
export function isIdle(database: SqliteFile, nowMs: number, wasSetBack: boolean): boolean {
  const { ready, held, due_ms: dueMs } = database.get(CLAIMABLE) ?? {}
  if (ready === 1 || held === 1) return false
  return dueMs == null || (!wasSetBack && Number(dueMs) > nowMs)
}

/** Makes due jobs ready. Only a waiting job without a holder has a time. */
export const WAKE_DELAYED = `
  UPDATE jobs INDEXED BY jobs_delayed SET not_before_ms = NULL, ready = 1
  WHERE not_before_ms IS NOT NULL AND not_before_ms <= ?`

/** Makes jobs ready that were delayed before the clock was set back. A job with a requested time keeps it. */
export function wakeSetBack(database: SqliteFile, nowMs: number): void {
  database.run(
    `UPDATE jobs INDEXED BY jobs_delayed SET not_before_ms = NULL, ready = 1
     WHERE not_before_ms IS NOT NULL AND updated_ms > ? AND not_before_ms - updated_ms <= ? AND attempts > 0`,
    [nowMs + CLOCK_SLACK_MS, LONGEST_WAIT_MS],
  )
}

/** Makes some jobs ready that wait for their retry. Call inside a transaction. @returns their number */
export function expedite(
  database: SqliteFile,
  { codes, limit, putOffForMs = 0, groups }: ExpediteFilter,
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

/** Claims the next job, if there is one. Call inside a transaction. */
export function claimNext(
  database: SqliteFile,
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

function take(database: SqliteFile, holder: Holder, jobId: string, nowMs: number, expiresMs: number): JobLease {
  const lease = newLease(database, holder, expiresMs)
  database.run(
    `UPDATE jobs SET status = 'working', ready = 0, not_before_ms = NULL, attempts = attempts + 1, updated_ms = ?,
       lease_token = ?, lease_holder = ?, lease_expires_ms = ? WHERE id = ?`,
    [nowMs, lease.token, lease.holderId, expiresMs, jobId],
  )
  return { jobId, token: lease.token, expiresMs }
}
