import type { Row, SqliteFile, SqlValue } from '../database/sqlite-file.js'
import { type Holder, thisHolder } from '../leases/holder.js'
import { freeLostLeases, leaseLost } from '../leases/leases.js'
import { isEnded, type Job, type JobRequest, type JobState } from './job.js'
import { claimByKey, claimNext, expedite, isIdle, wakeSetBack } from './job-claims.js'
import { countJobs, findJob, listJobs, onlyJob } from './job-reads.js'
import { insertJob } from './job-row.js'
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
  type Pause,
} from './job-store.js'

/** Dependencies of a store, mostly replaced in tests. */
export interface StoreContext {
  readonly database: SqliteFile
  /** Unix milliseconds; default the clock. */
  readonly now?: () => number
  /** Holder of new leases; default: this process. */
  readonly holder?: Holder
}

/** {@link JobStore} in SQLite, for any number of processes of one machine. */
export class SqliteJobStore implements JobStore {
  readonly #database: SqliteFile
  readonly #now: () => number
  readonly #holder: Holder
  /** Time of the last claim. An earlier time now means that the clock was set back. */
  #clockMs = Number.POSITIVE_INFINITY

  constructor({ database, now = Date.now, holder = thisHolder() }: StoreContext) {
    this.#database = database
    this.#now = now
    this.#holder = holder
  }

  async enqueue(request: JobRequest): Promise<{ job: Job; created: boolean }> {
    return this.#database.transaction(() => {
      const created = insertJob(this.#database, request, this.#now())
      return { job: onlyJob(this.#database, 'jobs.key = ?', [request.key]), created }
    })
  }

  async enqueueAll(requests: readonly JobRequest[]): Promise<number> {
    return this.#database.transaction(
      () => requests.filter((request) => insertJob(this.#database, request, this.#now())).length,
    )
  }

  async claim(key: string, options: Pick<ClaimOptions, 'leaseMs'> = {}): Promise<ClaimOutcome> {
    return this.#claiming((now) => {
      const lease = claimByKey(this.#database, this.#holder, key, now, now + (options.leaseMs ?? DEFAULT_LEASE_MS))
      const job = findJob(this.#database, 'jobs.key = ?', [key])
      if (!job) return { outcome: 'unknown' }
      if (lease) return { outcome: 'claimed', job, lease }
      return { outcome: isEnded(job.status) ? 'ended' : 'held', job }
    })
  }

  async claimNext(options: ClaimOptions = {}): Promise<ClaimedJob | null> {
    const clockMs = this.#clockMs
    this.#clockMs = this.#now()
    if (isIdle(this.#database, this.#clockMs, this.#clockMs < clockMs)) return null
    return this.#claiming((now) => {
      if (now < clockMs) wakeSetBack(this.#database, now)
      const expiresMs = now + (options.leaseMs ?? DEFAULT_LEASE_MS)
      const lease = claimNext(this.#database, this.#holder, options, now, expiresMs)
      return lease && { job: onlyJob(this.#database, 'jobs.id = ?', [lease.jobId]), lease }
    })
  }

  async heartbeat(lease: JobLease, leaseMs: number = DEFAULT_LEASE_MS): Promise<JobLease> {
    const expiresMs = this.#now() + leaseMs
    return this.#database.transaction(() => {
      this.#change(lease, 'lease_expires_ms = ?', [expiresMs])
      return { ...lease, expiresMs }
    })
  }

  async checkpoint(lease: JobLease, checkpoint: JobCheckpoint): Promise<Job> {
    return this.#database.transaction(() => {
      const before = this.#database.get('SELECT state FROM jobs WHERE id = ?', [lease.jobId])
      return this.#change(
        lease,
        `state = ?, status = coalesce(?, status), input = coalesce(?, input),
         input_identity = coalesce(?, input_identity), output = coalesce(?, output),
         published_sha256 = coalesce(?, published_sha256)`,
        [
          mergedState(before?.state, checkpoint.state),
          checkpoint.status ?? null,
          checkpoint.input ?? null,
          checkpoint.inputIdentity ? JSON.stringify(checkpoint.inputIdentity) : null,
          checkpoint.output ?? null,
          checkpoint.publishedSha256 ?? null,
        ],
      )
    })
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
    const notBeforeMs = as.notBeforeMs ?? null
    return this.#leave(lease, 'status = ?, ready = ?, not_before_ms = ?', [
      as.status,
      notBeforeMs === null ? 1 : 0,
      notBeforeMs === null ? null : Math.ceil(notBeforeMs),
    ])
  }

  async putBack({ job, lease }: ClaimedJob): Promise<void> {
    this.#leave(lease, "status = 'queued', ready = 1, attempts = ?", [job.attempts - 1])
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
    return this.#database.transaction(() => {
      this.#database.run('UPDATE jobs SET priority = ?, updated_ms = ? WHERE id = ?', [priority, this.#now(), id])
      return findJob(this.#database, 'jobs.id = ?', [id])
    })
  }

  async requeue(id: string): Promise<Job | null> {
    return this.#claiming((now) => {
      this.#database.run(
        `UPDATE jobs SET ready = 1, not_before_ms = NULL, updated_ms = ?,
           attempts = CASE WHEN status IN (${ENDED}) THEN 0 ELSE attempts END,
           status = CASE WHEN status IN (${ENDED}) THEN 'queued' ELSE status END
         WHERE id = ? AND lease_token IS NULL`,
        [now, id],
      )
      return findJob(this.#database, 'jobs.id = ?', [id])
    })
  }

  async expedite(filter: ExpediteFilter): Promise<number> {
    return this.#database.transaction(() => expedite(this.#database, filter, this.#now()))
  }

  async forget(id: string): Promise<boolean> {
    return this.#claiming(
      () => this.#database.run('DELETE FROM jobs WHERE id = ? AND lease_token IS NULL', [id]).changes > 0,
    )
  }

  async forgetEnded(beforeMs: number): Promise<number> {
    return this.#database.run(`DELETE FROM jobs INDEXED BY jobs_ended WHERE status IN (${ENDED}) AND updated_ms < ?`, [
      beforeMs,
    ]).changes
  }

  async pause(group: string | null, reason: string): Promise<void> {
    this.#database.run(
      `INSERT INTO pauses (grp, reason, since_ms) VALUES (?, ?, ?)
       ON CONFLICT (grp) DO UPDATE SET reason = excluded.reason`,
      [group ?? '', reason, this.#now()],
    )
  }

  async resume(group: string | null): Promise<void> {
    this.#database.run('DELETE FROM pauses WHERE grp = ?', [group ?? ''])
  }

  async pauses(): Promise<Pause[]> {
    return this.#database
      .all('SELECT * FROM pauses ORDER BY since_ms')
      .map((row) => ({ group: String(row.grp) || null, reason: String(row.reason), sinceMs: Number(row.since_ms) }))
  }

  async close(): Promise<void> {
    this.#database.close()
  }

  /** Runs a transaction after freeing the leases of dead processes. */
  #claiming<T>(work: (nowMs: number) => T): T {
    return this.#database.transaction(() => {
      const now = this.#now()
      freeLostLeases(this.#database, now, this.#holder)
      return work(now)
    })
  }

  /** Changes a job of this lease, or throws `ERR_LEASE_LOST`. */
  #change(lease: JobLease, assignments: string, values: readonly SqlValue[]): Job {
    const { changes } = this.#database.run(
      `UPDATE jobs SET ${assignments}, updated_ms = ? WHERE id = ? AND lease_token = ?`,
      [...values, this.#now(), lease.jobId, lease.token],
    )
    const job = findJob(this.#database, 'jobs.id = ?', [lease.jobId])
    if (changes === 0 || !job) throw leaseLost(job?.input ?? 'a job that was forgotten')
    return job
  }

  #leave(lease: JobLease, assignments: string, values: readonly SqlValue[]): Job {
    const free = 'lease_token = NULL, lease_holder = NULL, lease_expires_ms = NULL'
    return this.#database.transaction(() => this.#change(lease, `${assignments}, ${free}`, values))
  }
}

/** @param before as stored */
function mergedState(before: Row[string] | undefined, more: JobState | undefined): string {
  if (typeof before !== 'string') return JSON.stringify(more ?? {})
  return more === undefined ? before : JSON.stringify({ ...JSON.parse(before), ...more })
}

const ENDED = "'done', 'skipped', 'rejected', 'failed'"
