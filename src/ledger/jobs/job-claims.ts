import type { Database, Row, SqlValue, Transaction } from '../database/database.js'
import type { Holder } from '../leases/holder.js'
import { type LeaseRequest, type NewLease, newLease } from '../leases/leases.js'
import type { Job } from './job.js'
import { jobOf } from './job-row.js'
import type { ClaimedJob, ClaimOptions } from './job-store.js'

/** Lanes that a claim looks at in one statement. The first has a job unless it was emptied just now. */
const LANES_AT_ONCE = 8

/**
 * The first open lanes: highest priority, then the group with the oldest turn, then the oldest job. Values: a JSON list
 * of groups (null for all), a JSON list of groups to leave out, and the number of lanes to skip.
 */
export const nextLanes = ({ dialect: { isOneOf } }: Pick<Database, 'dialect'>): string => `
  SELECT grp, priority FROM lanes
  WHERE ready = 1 AND (CAST(?1 AS TEXT) IS NULL OR ${isOneOf('grp', '?1')}) AND NOT ${isOneOf('grp', '?2')}
    AND grp NOT IN (SELECT grp FROM pauses) AND NOT EXISTS (SELECT 1 FROM pauses WHERE grp = '')
  ORDER BY priority DESC, served, since LIMIT ${LANES_AT_ONCE} OFFSET ?3`

/** Id of the first job of a lane. A range of priorities, so that PostgreSQL follows this index and not that of ids. */
export const FIRST_OF_LANE = `
  SELECT id FROM jobs INDEXED BY jobs_ready WHERE grp = ? AND priority >= ? AND ready = 1
  ORDER BY priority DESC, id LIMIT 1`

/** When a claim has something to do: an open lane, a lease that ends, a delay that is over. */
export const CLAIMABLE = `
  SELECT EXISTS (SELECT 1 FROM lanes WHERE ready = 1) AS ready,
         (SELECT min(lease_expires_ms) FROM jobs INDEXED BY jobs_expiring WHERE lease_token IS NOT NULL) AS expires_ms,
         (SELECT min(not_before_ms) FROM jobs INDEXED BY jobs_delayed WHERE not_before_ms IS NOT NULL) AS due_ms`

/** Claims a given job that has not ended, if its lease is free or over. */
export async function claimByKey(tx: Transaction, key: string, request: LeaseRequest): Promise<ClaimedJob | null> {
  const row = await tx.get(
    `SELECT id FROM jobs WHERE key = ? AND status IN ('queued', 'working', 'waiting-remote')
       AND (lease_token IS NULL OR lease_expires_ms <= ?) ${tx.dialect.forUpdate}`,
    [key, tx.nowMs],
  )
  return row ? take(tx, request.holder, await newLease(tx, request), { id: '?', values: [String(row.id)] }) : null
}

/** Finds the job that an earlier claim took whose answer was lost. */
export async function claimedBefore(tx: Transaction, { token, holder }: LeaseRequest): Promise<ClaimedJob | null> {
  const row = await tx.get(
    `SELECT * FROM jobs WHERE lease_token = ? AND lease_holder IN
       (SELECT id FROM holders WHERE host = ? AND pid = ?)`,
    [token, holder.host, holder.pid],
  )
  return row ? { job: heldJobOf(row, holder), lease: { jobId: String(row.id), token } } : null
}

/** Claims the next job, if there is one. */
export async function claimNext(
  tx: Transaction,
  { groups, exceptGroups = [] }: Pick<ClaimOptions, 'groups' | 'exceptGroups'>,
  request: LeaseRequest,
): Promise<ClaimedJob | null> {
  const chosen = [groups ? JSON.stringify(groups) : null, JSON.stringify(exceptGroups)]
  const first = `(${FIRST_OF_LANE} ${tx.dialect.lockFree})`
  let lease: NewLease | undefined
  for (let skipped = 0; ; ) {
    const lanes = await tx.all(nextLanes(tx), [...chosen, skipped])
    for (const { grp, priority } of lanes) {
      const lane = [String(grp), Number(priority)]
      lease ??= await newLease(tx, request)
      const claimed = await take(tx, request.holder, lease, { id: first, values: lane })
      if (claimed) {
        await endTurn(tx, String(grp))
        return claimed
      }
      if (!(await closeLane(tx, lane))) skipped += 1
    }
    if (lanes.length < LANES_AT_ONCE) return null
  }
}

async function take(
  tx: Transaction,
  holder: Holder,
  { token, holderId, expiresMs }: NewLease,
  { id, values }: { readonly id: string; readonly values: readonly SqlValue[] },
): Promise<ClaimedJob | null> {
  const row = await tx.get(
    `UPDATE jobs SET status = 'working', ready = 0, not_before_ms = NULL, attempts = attempts + 1, updated_ms = ?,
       lease_token = ?, lease_holder = ?, lease_expires_ms = ? WHERE id = ${id} RETURNING *`,
    [tx.nowMs, token, holderId, expiresMs, ...values],
  )
  return row ? { job: heldJobOf(row, holder), lease: { jobId: String(row.id), token } } : null
}

/** Converts a row of `jobs` whose lease, if it has one, is that of `holder`. */
export function heldJobOf(row: Row, { host, pid }: Holder): Job {
  return jobOf(row.lease_holder === null ? { ...row, pid: null } : { ...row, host, pid })
}

/** Puts a group behind all others. A lane that another claim changes gets its turn from that one. */
async function endTurn(tx: Transaction, group: string): Promise<void> {
  await tx.run(
    `UPDATE lanes SET served = (SELECT max(served) + 1 FROM lanes)
     WHERE grp = ?1 AND ${tx.dialect.isIn('priority', `SELECT priority FROM lanes WHERE grp = ?1 ${tx.dialect.lockFree}`)}`,
    [group],
  )
}

/** Deletes the lanes of groups without jobs. One that another process adds a job to is locked, and stays. */
export async function forgetLanes(tx: Transaction): Promise<void> {
  const unused = 'NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.grp = lanes.grp)'
  // Looks again: a job may have come before the lock.
  for (const { grp, priority } of await tx.all(
    `SELECT grp, priority FROM lanes WHERE ${unused} ${tx.dialect.lockUnused}`,
    [],
  ))
    await tx.run(`DELETE FROM lanes WHERE grp = ? AND priority = ? AND ${unused}`, [String(grp), Number(priority)])
}

/** Closes a lane without ready jobs, so that no claim looks at it again. @returns false if it stays open */
async function closeLane(tx: Transaction, lane: readonly SqlValue[]): Promise<boolean> {
  const lock = `SELECT 1 FROM lanes WHERE grp = ? AND priority = ? ${tx.dialect.lockUnused}`
  if (!(await tx.get(lock, lane))) return false
  const close = `UPDATE lanes SET ready = 0 WHERE grp = ? AND priority = ? AND (${FIRST_OF_LANE}) IS NULL`
  return (await tx.run(close, [...lane, ...lane])).changes > 0
}
