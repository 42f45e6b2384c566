import { randomUUID } from 'node:crypto'
import { JOB_STATUSES, type Job, type JobRequest, type JobStatus } from '../jobs/job.js'
import {
  type ClaimedJob,
  type ClaimOptions,
  type ClaimOutcome,
  DEFAULT_LEASE_MS,
  DEFAULT_LIST_LIMIT,
  type ExpediteFilter,
  type JobCheckpoint,
  type JobCount,
  type JobFilter,
  type JobLease,
  type JobStore,
  type Pause,
} from '../jobs/job-store.js'
import { leaseLost } from '../leases/leases.js'
import { sortableId } from '../sortable-id.js'
import type { BullCall } from './bull-recorder.js'
import { GroupQueues } from './group-queues.js'
import { bullPriority, jobData, jobFields, jobIn, jobOf } from './job-record.js'
import { JOB_SCRIPTS } from './job-scripts.js'
import { RedisJobClaims } from './redis-job-claims.js'
import type { RedisScripts } from './redis-scripts.js'
import type { RedisStoreContext } from './redis-store-context.js'

/**
 * {@link JobStore} on Redis, for any number of machines. BullMQ keeps and moves the jobs, in one queue per group. Our
 * scripts update leases, indexes and turns in the same step (see `lua-prelude.ts`).
 */
export class RedisJobStore implements JobStore {
  readonly #scripts: RedisScripts
  readonly #groups: GroupQueues
  readonly #claims: RedisJobClaims

  constructor(context: RedisStoreContext) {
    this.#scripts = context.scripts
    this.#groups = new GroupQueues(context)
    this.#claims = new RedisJobClaims(context)
  }

  async enqueue(request: JobRequest): Promise<{ readonly job: Job; readonly created: boolean }> {
    const { number, queue } = await this.#groups.of(request.group)
    const nowMs = this.#scripts.now()
    const id = `${sortableId(nowMs)}-${number}`
    const notBeforeMs = request.notBeforeMs ?? null
    const call = await queue.add({
      ...{ id, nowMs, data: jobData(request), priority: bullPriority(request.priority ?? 0) },
      delayMs: notBeforeMs === null ? 0 : Math.max(0, Math.ceil(notBeforeMs) - nowMs),
    })
    const fields = jobFields(request)
    const answer = await this.#run('enqueue', [request.key, id, ...fields], call)
    return { job: jobIn(answer[2]), created: answer[0] === 'created' }
  }

  async enqueueAll(requests: readonly JobRequest[]): Promise<number> {
    let created = 0
    for (let from = 0; from < requests.length; from += BATCH) {
      const answers = await Promise.all(requests.slice(from, from + BATCH).map((request) => this.enqueue(request)))
      created += answers.filter((answer) => answer.created).length
    }
    return created
  }

  claim(key: string, options: Pick<ClaimOptions, 'leaseMs'> = {}): Promise<ClaimOutcome> {
    return this.#claims.claim(key, options)
  }

  claimNext(options: ClaimOptions = {}): Promise<ClaimedJob | null> {
    return this.#claims.next(options)
  }

  async heartbeat(lease: JobLease, leaseMs: number = DEFAULT_LEASE_MS): Promise<JobLease> {
    const answer = await this.#leased('heartbeat', lease, [leaseMs])
    return { ...lease, expiresMs: Number(answer[1]) + leaseMs }
  }

  async checkpoint(lease: JobLease, checkpoint: JobCheckpoint): Promise<Job> {
    const answer = await this.#leased('checkpoint', lease, [checkpoint.status ?? '', ...jobFields(checkpoint)])
    return jobIn(answer[2])
  }

  async complete(lease: JobLease, end: Parameters<JobStore['complete']>[1]): Promise<Job> {
    const queue = await this.#groups.ofJob(lease.jobId)
    const call = await queue.finish(lease.jobId, 'completed', JSON.stringify(end), lease.token)
    return this.#leave('finish', lease, end.status, null, jobFields({ receipt: end.receipt }), call)
  }

  async fail(lease: JobLease, end: Parameters<JobStore['fail']>[1]): Promise<Job> {
    const queue = await this.#groups.ofJob(lease.jobId)
    const call = await queue.finish(lease.jobId, 'failed', end.error.message, lease.token)
    return this.#leave('finish', lease, end.status, null, jobFields({ error: end.error }), call)
  }

  async retryAt(lease: JobLease, notBeforeMs: number, error: Parameters<JobStore['retryAt']>[2]): Promise<Job> {
    return this.#putOff(lease, 'queued', notBeforeMs, jobFields({ error }))
  }

  async release(lease: JobLease, as: Parameters<JobStore['release']>[1]): Promise<Job> {
    if (typeof as.notBeforeMs === 'number') return this.#putOff(lease, as.status, as.notBeforeMs, [])
    const queue = await this.#groups.ofJob(lease.jobId)
    return this.#leave('giveBack', lease, as.status, null, [], await queue.giveBack(lease.jobId, lease.token))
  }

  async putBack({ job, lease }: ClaimedJob): Promise<void> {
    const queue = await this.#groups.ofJob(job.id)
    const fields = ['_attempts', String(job.attempts - 1)]
    await this.#leave('giveBack', lease, 'queued', null, fields, await queue.giveBack(job.id, lease.token))
  }

  async get(id: string): Promise<Job | null> {
    return jobOf(await this.#run('get', [id]))
  }

  async getByKey(key: string): Promise<Job | null> {
    return jobOf(await this.#run('getByKey', [key]))
  }

  async list(filter: JobFilter = {}): Promise<Job[]> {
    const { group, input, before = '', limit = DEFAULT_LIST_LIMIT, statuses = JOB_STATUSES } = filter
    const answer = await this.#run('list', [
      ...[group ?? '', group === undefined ? '' : '1', input === undefined ? '' : '1', input ?? '', before, limit],
      ...new Set(statuses),
    ])
    return answer.map((hash) => jobIn(hash))
  }

  async counts(): Promise<JobCount[]> {
    const rows = (await this.#run('counts', [...JOB_STATUSES])) as [string, JobStatus, number][]
    return rows.map(([group, status, count]) => ({ group, status, count }))
  }

  async setPriority(id: string, priority: number): Promise<Job | null> {
    const queue = await this.#groups.ofJob(id).catch(() => null)
    return queue && jobOf(await this.#run('setPriority', [id], await queue.setPriority(id, bullPriority(priority))))
  }

  async requeue(id: string): Promise<Job | null> {
    return jobOf(await this.#run('requeue', [id]))
  }

  async expedite({ codes, limit, putOffForMs = 0, groups }: ExpediteFilter): Promise<number> {
    const own = [limit, putOffForMs, codes.length, ...codes, groups === undefined ? '' : '1', ...(groups ?? [])]
    return Number(await this.#scripts.run('hasten', JOB_SCRIPTS.hasten, own))
  }

  async forget(id: string): Promise<boolean> {
    const job = await this.get(id)
    return job !== null && this.#forget(job, ['', ''])
  }

  async forgetEnded(beforeMs: number): Promise<number> {
    let forgotten = 0
    for (;;) {
      const jobs = (await this.#run('endedBefore', [beforeMs])).map((hash) => jobIn(hash))
      const gone = await Promise.all(jobs.map((job) => this.#forget(job, ['1', String(beforeMs)])))
      const count = gone.filter(Boolean).length
      if (count === 0) return forgotten
      forgotten += count
    }
  }

  async pause(group: string | null, reason: string): Promise<void> {
    await this.#run('pause', [group ?? '', reason])
  }

  async resume(group: string | null): Promise<void> {
    await this.#run('resume', [group ?? ''])
  }

  async pauses(): Promise<Pause[]> {
    const entries = (await this.#run('pauses')) as string[]
    const pauses: Pause[] = []
    for (let at = 0; at + 1 < entries.length; at += 2) {
      const [, sinceMs, reason = ''] = /^(\d+) ([\s\S]*)$/.exec(entries[at + 1] ?? '') ?? []
      pauses.push({ group: entries[at] || null, reason, sinceMs: Number(sinceMs) })
    }
    return pauses.sort((a, b) => a.sinceMs - b.sinceMs)
  }

  async watch() {
    return { waitMs: (pollMs: number) => pollMs, stop: async () => {} }
  }

  /** Does nothing: the ledger owns the connection. */
  async close(): Promise<void> {}

  async #putOff(lease: JobLease, status: JobStatus, notBeforeMs: number, fields: string[]): Promise<Job> {
    const queue = await this.#groups.ofJob(lease.jobId)
    const nowMs = this.#scripts.now()
    const dueMs = Math.ceil(notBeforeMs)
    const call = await queue.delay(lease.jobId, nowMs, Math.max(0, dueMs - nowMs), lease.token)
    return this.#leave('delay', lease, status, dueMs, fields, call)
  }

  async #leave(
    script: 'finish' | 'delay' | 'giveBack',
    lease: JobLease,
    status: JobStatus,
    notBeforeMs: number | null,
    fields: readonly string[],
    call: BullCall,
  ): Promise<Job> {
    return jobIn((await this.#leased(script, lease, [status, notBeforeMs ?? '', ...fields], call))[2])
  }

  /** Runs a write that needs the lease. @throws TransientError `ERR_LEASE_LOST` */
  async #leased(
    script: 'heartbeat' | 'checkpoint' | 'finish' | 'delay' | 'giveBack',
    lease: JobLease,
    values: readonly (string | number)[],
    call?: BullCall,
  ): Promise<unknown[]> {
    const answer = await this.#run(script, [lease.jobId, lease.token, randomUUID(), ...values], call)
    if (answer[0] === 'lost') throw leaseLost(jobOf(answer[2])?.input ?? 'a job that was forgotten')
    return answer
  }

  async #forget(job: Job, condition: readonly [string, string]): Promise<boolean> {
    const queue = await this.#groups.ofJob(job.id)
    const own = [job.id, job.key, ...condition]
    return Number(await this.#scripts.run('forget', JOB_SCRIPTS.forget, own, await queue.remove(job.id))) === 1
  }

  async #run(name: keyof typeof JOB_SCRIPTS, own: readonly (string | number)[] = [], call?: BullCall) {
    return (await this.#scripts.run(name, JOB_SCRIPTS[name], own, call)) as unknown[]
  }
}

/** Calls that run at once. */
const BATCH = 500
