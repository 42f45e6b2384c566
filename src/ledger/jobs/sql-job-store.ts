import { randomUUID } from 'node:crypto'
import type { Database, Row, SqlValue, Statements, Transaction } from '../database/database.js'
import type { Holder } from '../leases/holder.js'
import { FREE_COLUMNS, freeDeadLeases, leaseLost } from '../leases/leases.js'
import type { Job, JobState } from './job.js'
import { forgetLanes, heldJobOf } from './job-claims.js'
import { countJobs, findJob, listJobs } from './job-reads.js'
import { INSERT_JOB, jobRow } from './job-row.js'
import { DEFAULT_LEASE_MS, type JobLease, type JobStore } from './job-store.js'
import { expedite } from './job-wakes.js'
import { READY, sqlJobClaims } from './sql-job-claims.js'
import { FREE_OUTPUT, takeOutputPath } from './taken-outputs.js'

/** Dependencies of a store, mostly replaced in tests. */
export interface StoreContext {
  readonly database: Database
  /** Holder of new leases. */
  readonly holder: Holder
}

/** A {@link JobStore} in SQL, for any number of processes. */
export function sqlJobStore({ database, holder }: StoreContext): JobStore {
  /** Changes a job that exists and has no holder. @returns false if there is none */
  const unlessHeld = async (id: string, change: (tx: Transaction) => Promise<unknown>): Promise<boolean> => {
    await freeDeadLeases(database, holder)
    return database.transaction(async (tx) => {
      const row = await tx.get(
        `SELECT id FROM jobs WHERE id = ? AND (lease_token IS NULL OR lease_expires_ms <= ?) ${tx.dialect.forUpdate}`,
        [id, tx.nowMs],
      )
      if (row) await change(tx)
      return row !== undefined
    })
  }

  /** Changes a job of this lease, or throws `ERR_LEASE_LOST`. */
  const change = async (
    tx: Statements & { readonly nowMs: number },
    lease: JobLease,
    assignments: string,
    values: readonly SqlValue[],
  ): Promise<Job> => {
    const row = await tx.get(
      `UPDATE jobs SET ${assignments}, updated_ms = ? WHERE id = ? AND lease_token = ? RETURNING *`,
      [...values, tx.nowMs, lease.jobId, lease.token],
    )
    if (row) return heldJobOf(row, holder)
    const job = await findJob(tx, 'jobs.id = ?', [lease.jobId])
    throw leaseLost(job?.input ?? 'a job that was forgotten')
  }

  const leave = (lease: JobLease, assignments: string, values: readonly SqlValue[], isReady = false): Promise<Job> => {
    const call = randomUUID()
    let isRepeated = false
    return database.transaction(async (tx) => {
      const done = isRepeated ? await findJob(tx, 'jobs.id = ? AND last_call = ?', [lease.jobId, call]) : null
      isRepeated = true
      if (done) return done
      const job = await change(tx, lease, `${assignments}, ${FREE_COLUMNS}, last_call = ?`, [...values, call])
      await tx.run(FREE_OUTPUT, [lease.jobId])
      if (isReady) await tx.notify(READY, job.group)
      return job
    })
  }

  const get = (id: string) => findJob(database, 'jobs.id = ?', [id])

  return {
    ...sqlJobClaims(database, holder),
    get,
    getByKey: (key) => findJob(database, 'jobs.key = ?', [key]),
    list: (filter = {}) => listJobs(database, filter),
    counts: () => countJobs(database),
    takeOutput: (lease, path) => takeOutputPath(database, holder, lease, path),
    close: () => database.close(),

    enqueue(request) {
      const row = jobRow(request, database.nowMs())
      return database.transaction(async (tx) => {
        for (;;) {
          await tx.run(INSERT_JOB, row)
          const job = await findJob(tx, 'jobs.key = ?', [request.key])
          // It was forgotten between these two statements.
          if (!job) continue
          const created = job.id === row[0]
          if (created) await tx.notify(READY, request.group)
          return { job, created }
        }
      })
    },

    heartbeat: (lease, leaseMs = DEFAULT_LEASE_MS) =>
      database.transaction(async (tx) => {
        await change(tx, lease, 'lease_expires_ms = ?', [tx.nowMs + leaseMs])
      }),

    checkpoint(lease, { state, status, input, inputIdentity, output, publishedSha256 }) {
      const write = (statements: Statements, nowMs: number, merged: string | null) =>
        change(
          { ...statements, nowMs },
          lease,
          `state = coalesce(?, state), status = coalesce(?, status), input = coalesce(?, input),
           input_identity = coalesce(?, input_identity), output = coalesce(?, output),
           published_sha256 = coalesce(?, published_sha256)`,
          [
            ...[merged, status ?? null, input ?? null, inputIdentity ? JSON.stringify(inputIdentity) : null],
            ...[output ?? null, publishedSha256 ?? null],
          ],
        )
      // One statement, which may run twice.
      if (!state) return write(database, database.nowMs(), null)
      return database.transaction(async (tx) => {
        const before = await tx.get(`SELECT state FROM jobs WHERE id = ? ${tx.dialect.forUpdate}`, [lease.jobId])
        return write(tx, tx.nowMs, mergedState(before?.state, state))
      })
    },

    complete: (lease, { status, receipt = null }) =>
      leave(lease, 'status = ?, ready = 0, error = NULL, receipt = coalesce(?, receipt)', [status, receipt]),

    fail: (lease, { status, error }) =>
      leave(lease, 'status = ?, ready = 0, error = ?', [status, JSON.stringify(error)]),

    retryAt: (lease, notBeforeMs, error) =>
      leave(lease, "status = 'queued', ready = 0, not_before_ms = ?, error = ?", [
        Math.ceil(notBeforeMs),
        JSON.stringify(error),
      ]),

    release(lease, { status, notBeforeMs }) {
      if (typeof notBeforeMs !== 'number') return leave(lease, 'status = ?, ready = 1', [status], true)
      return leave(lease, 'status = ?, ready = 0, not_before_ms = ?', [status, Math.ceil(notBeforeMs)])
    },

    async putBack({ job, lease }) {
      await leave(lease, "status = 'queued', ready = 1, attempts = ?", [job.attempts - 1], true)
    },

    setPriority: (id, priority) =>
      database.transaction(async (tx) => {
        await tx.run('UPDATE jobs SET priority = ?, updated_ms = ? WHERE id = ?', [priority, tx.nowMs, id])
        return findJob(tx, 'jobs.id = ?', [id])
      }),

    async requeue(id) {
      await unlessHeld(id, async (tx) => {
        await tx.run(
          `UPDATE jobs SET ${FREE_COLUMNS}, ready = 1, not_before_ms = NULL, updated_ms = ?,
             attempts = CASE WHEN status IN (${ENDED}) THEN 0 ELSE attempts END,
             status = CASE WHEN status IN (${ENDED}, 'working') THEN 'queued' ELSE status END WHERE id = ?`,
          [tx.nowMs, id],
        )
        await tx.notify(READY, '')
      })
      return get(id)
    },

    cancel: (id, error) =>
      database.transaction(async (tx) => {
        const { changes } = await tx.run(
          `UPDATE jobs SET ${FREE_COLUMNS}, status = 'failed', ready = 0, not_before_ms = NULL, error = ?, updated_ms = ?
           WHERE id = ? AND status NOT IN (${ENDED})`,
          [JSON.stringify(error), tx.nowMs, id],
        )
        return changes === 0 ? null : findJob(tx, 'jobs.id = ?', [id])
      }),

    expedite: (filter) =>
      database.transaction(async (tx) => {
        const count = await expedite(tx, filter)
        if (count > 0) await tx.notify(READY, '')
        return count
      }),

    forget: (id) => unlessHeld(id, (tx) => tx.run('DELETE FROM jobs WHERE id = ?', [id])),

    forgetEnded: (beforeMs) =>
      database.transaction(async (tx) => {
        const { changes } = await tx.run(FORGET_ENDED, [beforeMs])
        await forgetLanes(tx)
        return changes
      }),

    async pause(group, reason) {
      await database.run(
        `INSERT INTO pauses (grp, reason, since_ms) VALUES (?, ?, ?)
         ON CONFLICT (grp) DO UPDATE SET reason = excluded.reason`,
        [group ?? '', reason, database.nowMs()],
      )
    },

    async resume(group) {
      await database.run('DELETE FROM pauses WHERE grp = ?', [group ?? ''])
      await database.notify(READY, group ?? '')
    },

    async pauses() {
      const rows = await database.all('SELECT * FROM pauses ORDER BY since_ms', [])
      return rows.map((row) => ({
        group: String(row.grp) || null,
        reason: String(row.reason),
        sinceMs: Number(row.since_ms),
      }))
    },
  }
}

/** @param before as stored */
function mergedState(before: Row[string] | undefined, more: JobState): string {
  return JSON.stringify({ ...(typeof before === 'string' && JSON.parse(before)), ...more })
}

const ENDED = "'done', 'skipped', 'rejected', 'failed'"
/** Along an index of what ended. */
export const FORGET_ENDED = `DELETE FROM jobs INDEXED BY jobs_ended WHERE status IN (${ENDED}) AND updated_ms < ?`
