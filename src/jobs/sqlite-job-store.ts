import type { Database, Row, SqlValue } from './database.js'
import { type Holder, thisHolder } from './holder.js'
import { isEnded, JOB_STATUSES, type Job, type JobRequest, type JobStatus } from './job.js'
import { claimByKey, claimNext, wakeSetBack } from './job-claims.js'
import { jobOf, SELECT_JOB } from './job-row.js'
import type {
  ClaimedJob,
  ClaimOptions,
  ClaimOutcome,
  JobCheckpoint,
  JobCount,
  JobFilter,
  JobLease,
  JobStore,
  Pause,
} from './job-store.js'
import { DEFAULT_LEASE_MS } from './job-store.js'
import { freeLostLeases, leaseLost } from './leases.js'
import { sortableId } from './sortable-id.js'

/** What a store takes from outside, for tests mostly. */
export interface StoreContext {
  readonly database: Database
  /** Unix milliseconds; default the clock. */
  readonly now?: () => number
  /** Whose leases are made; default this process. */
  readonly holder?: Holder
}

/** {@link JobStore} in SQLite, for any number of processes of one machine. */
export class SqliteJobStore implements JobStore {
  readonly #database: Database
  readonly #now: () => number
  readonly #holder: Holder
  /** At the last claim: an earlier time says that the clock was set back. Before the first it may have been. */
  #clockMs = Number.POSITIVE_INFINITY

  constructor({ database, now = Date.now, holder = thisHolder() }: StoreContext) {
    this.#database = database
    this.#now = now
    this.#holder = holder
  }

  async enqueue(request: JobRequest): Promise<{ job: Job; created: boolean }> {
    return this.#database.transaction(() => {
      const created = this.#insert(request)
      return { job: this.#one('jobs.key = ?', [request.key]), created }
    })
  }

  async enqueueAll(requests: readonly JobRequest[]): Promise<number> {
    return this.#database.transaction(() => requests.filter((request) => this.#insert(request)).length)
  }

  async claim(key: string, options: Pick<ClaimOptions, 'leaseMs'> = {}): Promise<ClaimOutcome> {
    return this.#claiming((now) => {
      const lease = claimByKey(this.#database, this.#holder, key, now, now + (options.leaseMs ?? DEFAULT_LEASE_MS))
      const job = this.#find('jobs.key = ?', [key])
      if (!job) return { outcome: 'unknown' }
      if (lease) return { outcome: 'claimed', job, lease }
      return { outcome: isEnded(job.status) ? 'ended' : 'held', job }
    })
  }

  async claimNext(options: ClaimOptions = {}): Promise<ClaimedJob | null> {
    return this.#claiming((now) => {
      if (now < this.#clockMs) wakeSetBack(this.#database, now)
      this.#clockMs = now
      const expiresMs = now + (options.leaseMs ?? DEFAULT_LEASE_MS)
      const lease = claimNext(this.#database, this.#holder, options, now, expiresMs)
      return lease && { job: this.#one('jobs.id = ?', [lease.jobId]), lease }
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
      const before = this.#find('jobs.id = ?', [lease.jobId])
      return this.#change(
        lease,
        `state = ?, status = coalesce(?, status), input = coalesce(?, input),
         input_identity = coalesce(?, input_identity), output = coalesce(?, output),
         published_sha256 = coalesce(?, published_sha256)`,
        [
          JSON.stringify({ ...before?.state, ...checkpoint.state }),
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
    return this.#find('jobs.id = ?', [id])
  }

  async getByKey(key: string): Promise<Job | null> {
    return this.#find('jobs.key = ?', [key])
  }

  async list(filter: JobFilter = {}): Promise<Job[]> {
    // One query a status, each along its index, and merged: a list of all failed jobs never reads the done ones.
    const statuses = filter.statuses ?? (filter.group === undefined ? [undefined] : JOB_STATUSES)
    const jobs = statuses.flatMap((status) => {
      const { sql, values } = listQuery(filter, status)
      return this.#database.all(sql, values).map(jobOf)
    })
    return jobs.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, filter.limit ?? DEFAULT_LIST_LIMIT)
  }

  async counts(): Promise<JobCount[]> {
    const rows = this.#database.all('SELECT grp, status, count(*) AS n FROM jobs GROUP BY grp, status')
    return rows.map((row) => ({ group: String(row.grp), status: row.status as JobStatus, count: Number(row.n) }))
  }

  async setPriority(id: string, priority: number): Promise<Job | null> {
    return this.#database.transaction(() => {
      this.#database.run('UPDATE jobs SET priority = ?, updated_ms = ? WHERE id = ?', [priority, this.#now(), id])
      return this.#find('jobs.id = ?', [id])
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
      return this.#find('jobs.id = ?', [id])
    })
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

  #insert(request: JobRequest): boolean {
    const now = this.#now()
    const notBeforeMs = request.notBeforeMs ?? null
    const { changes } = this.#database.run(
      `INSERT OR IGNORE INTO jobs (id, key, grp, priority, status, ready, not_before_ms, attempts, input,
         input_identity, output, recipe_hash, preset, state, created_ms, updated_ms)
       VALUES (?, ?, ?, ?, 'queued', ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        sortableId(now),
        request.key,
        request.group,
        request.priority ?? 0,
        notBeforeMs === null ? 1 : 0,
        notBeforeMs === null ? null : Math.ceil(notBeforeMs),
        request.input,
        request.inputIdentity ? JSON.stringify(request.inputIdentity) : null,
        request.output ?? null,
        request.recipeHash ?? '',
        request.preset ?? null,
        JSON.stringify(request.state ?? {}),
        now,
        now,
      ],
    )
    if (changes > 0) this.#database.run('INSERT OR IGNORE INTO turns (grp, served) VALUES (?, 0)', [request.group])
    return changes > 0
  }

  /** A transaction in which the leases of the dead are free. */
  #claiming<T>(work: (nowMs: number) => T): T {
    return this.#database.transaction(() => {
      const now = this.#now()
      freeLostLeases(this.#database, now, this.#holder)
      return work(now)
    })
  }

  /** Changes a job that is ours, or throws `ERR_LEASE_LOST`. */
  #change(lease: JobLease, assignments: string, values: readonly SqlValue[]): Job {
    const { changes } = this.#database.run(
      `UPDATE jobs SET ${assignments}, updated_ms = ? WHERE id = ? AND lease_token = ?`,
      [...values, this.#now(), lease.jobId, lease.token],
    )
    const job = this.#find('jobs.id = ?', [lease.jobId])
    if (changes === 0 || !job) throw leaseLost(job?.input ?? 'a job that was forgotten')
    return job
  }

  #leave(lease: JobLease, assignments: string, values: readonly SqlValue[]): Job {
    const free = 'lease_token = NULL, lease_holder = NULL, lease_expires_ms = NULL'
    return this.#database.transaction(() => this.#change(lease, `${assignments}, ${free}`, values))
  }

  #find(where: string, values: readonly SqlValue[]): Job | null {
    const row: Row | undefined = this.#database.get(`${SELECT_JOB} WHERE ${where}`, values)
    return row ? jobOf(row) : null
  }

  #one(where: string, values: readonly SqlValue[]): Job {
    const job = this.#find(where, values)
    if (!job) throw new Error('A job vanished within a transaction.')
    return job
  }
}

const ENDED = "'done', 'skipped', 'rejected', 'failed'"

const DEFAULT_LIST_LIMIT = 100

/** The query of a list, of one status or of any: its conditions follow an index, newest first (see the schema). */
export function listQuery(filter: JobFilter, status?: JobStatus): { sql: string; values: SqlValue[] } {
  const conditions: string[] = []
  const values: SqlValue[] = []
  const add = (condition: string, value: SqlValue) => {
    conditions.push(condition)
    values.push(value)
  }
  if (filter.group !== undefined) add('jobs.grp = ?', filter.group)
  if (filter.input !== undefined) add('jobs.input = ?', filter.input)
  if (status !== undefined) add('jobs.status = ?', status)
  if (filter.before !== undefined) add('jobs.id < ?', filter.before)
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
  return {
    sql: `${SELECT_JOB} ${where} ORDER BY jobs.id DESC LIMIT ?`,
    values: [...values, filter.limit ?? DEFAULT_LIST_LIMIT],
  }
}
