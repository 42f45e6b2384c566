import { randomUUID } from 'node:crypto'
import type { Database, Row, SqlValue, Statements } from '../database/database.js'
import type { Holder } from '../leases/holder.js'
import { FREE_COLUMNS, leaseLost } from '../leases/leases.js'
import type { Job, JobState } from './job.js'
import { heldJobOf } from './job-claims.js'
import { findJob } from './job-reads.js'
import { DEFAULT_LEASE_MS, type JobLease, type JobStore } from './job-store.js'
import { READY } from './sql-job-claims.js'
import { FREE_OUTPUT } from './taken-outputs.js'

type HolderWrites = Pick<JobStore, 'heartbeat' | 'checkpoint' | 'complete' | 'fail' | 'retryAt' | 'release' | 'putBack'>

/** The writes of a `sqlJobStore` that need the lease of a job. Each throws `ERR_LEASE_LOST` without it. */
export function sqlHolderWrites(database: Database, holder: Holder): HolderWrites {
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

  /** Changes a job and ends its lease. Repeated, because the answer of its commit was lost, it finds what it wrote. */
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

  return {
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
  }
}

/** @param before as stored */
function mergedState(before: Row[string] | undefined, more: JobState): string {
  return JSON.stringify({ ...(typeof before === 'string' && JSON.parse(before)), ...more })
}
