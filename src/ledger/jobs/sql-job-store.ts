import { randomUUID } from 'node:crypto'
import type { Database, Row, SqlValue, Statements, Transaction } from '../database/database.js'
import { type Holder, thisHolder } from '../leases/holder.js'
import { freeDeadLeases, leaseLost } from '../leases/leases.js'
import type { Job, JobRequest, JobState } from './job.js'
import { heldJobOf } from './job-claims.js'
import { countJobs, findJob, listJobs } from './job-reads.js'
import { insertJobs, jobRow } from './job-row.js'
import {
  type ClaimedJob,
  type ClaimOptions,
  type ClaimOutcome,
  DEFAULT_LEASE_MS,
  type ExpediteFilter,
  type JobCheckpoint,
  type JobCount,
  type JobFilter,
  type JobLease,
  type JobStore,
  type JobWatch,
  type Pause,
} from './job-store.js'
import { expedite } from './job-wakes.js'
import { READY, SqlJobClaims } from './sql-job-claims.js'
import { FREE_OUTPUT, takeOutput } from './taken-outputs.js'

/** Dependencies of a store, mostly replaced in tests. */
export interface StoreContext {
  readonly database: Database
  /** Holder of new leases; default: this process. */
  readonly holder?: Holder
}

/** {@link JobStore} in SQL, for any number of processes. */
export class SqlJobStore implements JobStore {
  readonly #database: Database
  readonly #holder: Holder
  readonly #claims: SqlJobClaims

  constructor({ database, holder = thisHolder() }: StoreContext) {
    this.#database = database
    this.#holder = holder
    this.#claims = new SqlJobClaims(database, holder)
  }

  async enqueue(request: JobRequest): Promise<{ job: Job; created: boolean }> {
    const row = jobRow(request, this.#database.nowMs())
    return this.#database.transaction(async (tx) => {
      for (;;) {
        await insertJobs(tx, [row])
        const job = await findJob(tx, 'jobs.key = ?', [request.key])
        // It was forgotten between these two statements.
        if (!job) continue
        const created = job.id === row[0]
        if (created) await tx.notify(READY, request.group)
        return { job, created }
      }
    })
  }

  async enqueueAll(requests: readonly JobRequest[]): Promise<number> {
    const rows = requests.map((request) => jobRow(request, this.#database.nowMs()))
    return this.#database.transaction(async (tx) => {
      const created = await insertJobs(tx, rows)
      if (created > 0) await tx.notify(READY, '')
      return created
    })
  }

  claim(key: string, options: Pick<ClaimOptions, 'leaseMs'> = {}): Promise<ClaimOutcome> {
    return this.#claims.one(key, options)
  }

  claimNext(options: ClaimOptions = {}): Promise<ClaimedJob | null> {
    return this.#claims.next(options)
  }

  async heartbeat(lease: JobLease, leaseMs: number = DEFAULT_LEASE_MS): Promise<JobLease> {
    return this.#database.transaction(async (tx) => {
      const expiresMs = tx.nowMs + leaseMs
      await this.#change(tx, lease, 'lease_expires_ms = ?', [expiresMs])
      return { ...lease, expiresMs }
    })
  }

  async checkpoint(lease: JobLease, checkpoint: JobCheckpoint): Promise<Job> {
    const { state, status, input, inputIdentity, output, publishedSha256 } = checkpoint
    const write = (statements: Statements, nowMs: number, merged: string | null) =>
      this.#change(
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
    if (!state) return write(this.#database, this.#database.nowMs(), null)
    return this.#database.transaction(async (tx) => {
      const before = await tx.get(`SELECT state FROM jobs WHERE id = ? ${tx.dialect.forUpdate}`, [lease.jobId])
      return write(tx, tx.nowMs, mergedState(before?.state, state))
    })
  }

  takeOutput(lease: JobLease, path: string): Promise<string | null> {
    return takeOutput(this.#database, this.#holder, lease, path)
  }

  async complete(lease: JobLease, end: Parameters<JobStore['complete']>[1]): Promise<Job> {
    return this.#leave(lease, 'status = ?, ready = 0, error = NULL, receipt = coalesce(?, receipt)', [
      end.status,
      end.receipt ?? null,
    ])
  }

  async fail(lease: JobLease, end: Parameters<JobStore['fail']>[1]): Promise<Job> {
    return this.#leave(lease, 'status = ?, ready = 0, error = ?', [end.status, JSON.stringify(end.error)])
  }

  async retryAt(lease: JobLease, notBeforeMs: number, error: Parameters<JobStore['retryAt']>[2]): Promise<Job> {
    return this.#leave(lease, "status = 'queued', ready = 0, not_before_ms = ?, error = ?", [
      Math.ceil(notBeforeMs),
      JSON.stringify(error),
    ])
  }

  async release(lease: JobLease, as: Parameters<JobStore['release']>[1]): Promise<Job> {
    if (typeof as.notBeforeMs !== 'number') return this.#leave(lease, 'status = ?, ready = 1', [as.status], true)
    return this.#leave(lease, 'status = ?, ready = 0, not_before_ms = ?', [as.status, Math.ceil(as.notBeforeMs)])
  }

  async putBack({ job, lease }: ClaimedJob): Promise<void> {
    await this.#leave(lease, "status = 'queued', ready = 1, attempts = ?", [job.attempts - 1], true)
  }

  async get(id: string): Promise<Job | null> {
    return findJob(this.#database, 'jobs.id = ?', [id])
  }

  async getByKey(key: string): Promise<Job | null> {
    return findJob(this.#database, 'jobs.key = ?', [key])
  }

  async list(filter: JobFilter = {}): Promise<Job[]> {
    return listJobs(this.#database, filter)
  }

  async counts(): Promise<JobCount[]> {
    return countJobs(this.#database)
  }

  async setPriority(id: string, priority: number): Promise<Job | null> {
    return this.#database.transaction(async (tx) => {
      await tx.run('UPDATE jobs SET priority = ?, updated_ms = ? WHERE id = ?', [priority, tx.nowMs, id])
      return findJob(tx, 'jobs.id = ?', [id])
    })
  }

  async requeue(id: string): Promise<Job | null> {
    return this.#unlessHeld(id, async (tx) => {
      await tx.run(
        `UPDATE jobs SET ${FREE}, ready = 1, not_before_ms = NULL, updated_ms = ?,
           attempts = CASE WHEN status IN (${ENDED}) THEN 0 ELSE attempts END, status = CASE WHEN status IN (${ENDED}, 'working') THEN 'queued' ELSE status END WHERE id = ?`,
        [tx.nowMs, id],
      )
      await tx.notify(READY, '')
    }).then(() => this.get(id))
  }

  async cancel(id: string, error: Parameters<JobStore['cancel']>[1]): Promise<Job | null> {
    return this.#database.transaction(async (tx) => {
      const { changes } = await tx.run(
        `UPDATE jobs SET ${FREE}, status = 'failed', ready = 0, not_before_ms = NULL, error = ?, updated_ms = ?
         WHERE id = ? AND status NOT IN (${ENDED})`,
        [JSON.stringify(error), tx.nowMs, id],
      )
      return changes === 0 ? null : findJob(tx, 'jobs.id = ?', [id])
    })
  }

  async expedite(filter: ExpediteFilter): Promise<number> {
    return this.#database.transaction(async (tx) => {
      const count = await expedite(tx, filter)
      if (count > 0) await tx.notify(READY, '')
      return count
    })
  }

  async forget(id: string): Promise<boolean> {
    return this.#unlessHeld(id, async (tx) => {
      await tx.run('DELETE FROM jobs WHERE id = ?', [id])
    })
  }

  async forgetEnded(beforeMs: number): Promise<number> {
    return this.#database.transaction(async (tx) => (await tx.run(FORGET_ENDED, [beforeMs])).changes)
  }

  async pause(group: string | null, reason: string): Promise<void> {
    await this.#database.run(
      `INSERT INTO pauses (grp, reason, since_ms) VALUES (?, ?, ?)
       ON CONFLICT (grp) DO UPDATE SET reason = excluded.reason`,
      [group ?? '', reason, this.#database.nowMs()],
    )
  }

  async resume(group: string | null): Promise<void> {
    await this.#database.run('DELETE FROM pauses WHERE grp = ?', [group ?? ''])
    await this.#database.notify(READY, group ?? '')
  }

  async pauses(): Promise<Pause[]> {
    const rows = await this.#database.all('SELECT * FROM pauses ORDER BY since_ms', [])
    return rows.map((row) => ({
      group: String(row.grp) || null,
      reason: String(row.reason),
      sinceMs: Number(row.since_ms),
    }))
  }

  watch(onReady: () => void): Promise<JobWatch> {
    return this.#claims.watch(onReady)
  }

  async close(): Promise<void> {
    await this.#database.close()
  }

  /** Changes a job that exists and has no holder. @returns false if there is none */
  async #unlessHeld(id: string, change: (tx: Transaction) => Promise<void>): Promise<boolean> {
    await freeDeadLeases(this.#database, this.#holder)
    return this.#database.transaction(async (tx) => {
      const row = await tx.get(
        `SELECT id FROM jobs WHERE id = ? AND (lease_token IS NULL OR lease_expires_ms <= ?) ${tx.dialect.forUpdate}`,
        [id, tx.nowMs],
      )
      if (row) await change(tx)
      return row !== undefined
    })
  }

  /** Changes a job of this lease, or throws `ERR_LEASE_LOST`. */
  async #change(
    tx: Statements & { readonly nowMs: number },
    lease: JobLease,
    assignments: string,
    values: readonly SqlValue[],
  ): Promise<Job> {
    const row = await tx.get(
      `UPDATE jobs SET ${assignments}, updated_ms = ? WHERE id = ? AND lease_token = ? RETURNING *`,
      [...values, tx.nowMs, lease.jobId, lease.token],
    )
    if (row) return heldJobOf(row, this.#holder)
    const job = await findJob(tx, 'jobs.id = ?', [lease.jobId])
    throw leaseLost(job?.input ?? 'a job that was forgotten')
  }

  async #leave(lease: JobLease, assignments: string, values: readonly SqlValue[], isReady = false): Promise<Job> {
    const call = randomUUID()
    let isRepeated = false
    return this.#database.transaction(async (tx) => {
      const done = isRepeated ? await findJob(tx, 'jobs.id = ? AND last_call = ?', [lease.jobId, call]) : null
      isRepeated = true
      if (done) return done
      const job = await this.#change(tx, lease, `${assignments}, ${FREE}, last_call = ?`, [...values, call])
      await tx.run(FREE_OUTPUT, [lease.jobId])
      if (isReady) await tx.notify(READY, job.group)
      return job
    })
  }
}

/** @param before as stored */
function mergedState(before: Row[string] | undefined, more: JobState): string {
  return JSON.stringify({ ...(typeof before === 'string' && JSON.parse(before)), ...more })
}

const ENDED = "'done', 'skipped', 'rejected', 'failed'"
const FREE = 'lease_token = NULL, lease_holder = NULL, lease_expires_ms = NULL'
/** Along an index of what ended. */
export const FORGET_ENDED = `DELETE FROM jobs INDEXED BY jobs_ended WHERE status IN (${ENDED}) AND updated_ms < ?`
