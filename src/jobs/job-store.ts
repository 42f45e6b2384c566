import type { ErrorReport } from '../core/errors.js'
import type { FileIdentity, Job, JobRequest, JobState, JobStatus } from './job.js'

/** The right to work on a job: good until `expiresMs` (Unix milliseconds) unless renewed by a heartbeat. */
export interface JobLease {
  readonly jobId: string
  readonly token: string
  readonly expiresMs: number
}

export interface ClaimedJob {
  readonly job: Job
  readonly lease: JobLease
}

/** What became of the wish to work on one given job. */
export type ClaimOutcome =
  | ({ readonly outcome: 'claimed' } & ClaimedJob)
  /** Another worker that lives has it. */
  | { readonly outcome: 'held'; readonly job: Job }
  /** It has ended; see `requeue`. */
  | { readonly outcome: 'ended'; readonly job: Job }
  | { readonly outcome: 'unknown' }

export interface ClaimOptions {
  /** Default {@link DEFAULT_LEASE_MS}. */
  readonly leaseMs?: number
  /** Only jobs of these groups; default all. */
  readonly groups?: readonly string[]
  /** None of these. */
  readonly exceptGroups?: readonly string[]
}

/** How long a lease is good without a heartbeat. A holder that died on this host loses it at once. */
export const DEFAULT_LEASE_MS = 60_000

/** How many jobs a list names. */
export const DEFAULT_LIST_LIMIT = 100

/** What a worker writes down on the way. What is left out stays as it is. */
export interface JobCheckpoint {
  /** Laid over the state: each property given replaces that property whole. */
  readonly state?: JobState
  readonly status?: 'working' | 'waiting-remote'
  /** Where the input lies now: it was renamed. */
  readonly input?: string
  readonly inputIdentity?: FileIdentity
  readonly output?: string
  readonly publishedSha256?: string
}

export interface JobFilter {
  readonly statuses?: readonly JobStatus[]
  readonly group?: string
  /** Exact path of the input. */
  readonly input?: string
  /** Only jobs created before this one: the last id of the page before. */
  readonly before?: string
  /** Default {@link DEFAULT_LIST_LIMIT}. */
  readonly limit?: number
}

/** Which of the jobs that wait for their next try are to be tried now. */
export interface HastenFilter {
  /** Codes of the failure that they wait after. */
  readonly codes: readonly string[]
  /** At most so many, those that are due soonest. */
  readonly limit: number
  /** Only those that were put off at least so long ago; default all. */
  readonly putOffForMs?: number
  /** Only jobs of these groups; default all. Those of a paused group wait on. */
  readonly groups?: readonly string[]
}

export interface JobCount {
  readonly group: string
  readonly status: JobStatus
  readonly count: number
}

/** A stop for a group, or for all where `group` is null. */
export interface Pause {
  readonly group: string | null
  /** Said to people. */
  readonly reason: string
  readonly sinceMs: number
}

/**
 * Durable jobs that many processes share. Every method of a lease throws TransientError `ERR_LEASE_LOST` when the
 * lease is no longer the job's; nothing is changed then.
 */
export interface JobStore {
  /** Idempotent by key: a job that exists, ended or not, is returned as it is with `created` false. */
  enqueue(request: JobRequest): Promise<{ readonly job: Job; readonly created: boolean }>
  /** Many in one transaction. @returns how many were new */
  enqueueAll(requests: readonly JobRequest[]): Promise<number>

  /** Claims one given job, whether its time has come and its group is paused or not. */
  claim(key: string, options?: Pick<ClaimOptions, 'leaseMs'>): Promise<ClaimOutcome>
  /** Claims the next job: highest priority, then the group that was served longest ago, then the oldest. */
  claimNext(options?: ClaimOptions): Promise<ClaimedJob | null>
  /** Renews a lease by its full time. An expired lease that nobody took yet is renewed too. */
  heartbeat(lease: JobLease, leaseMs?: number): Promise<JobLease>
  checkpoint(lease: JobLease, checkpoint: JobCheckpoint): Promise<Job>

  complete(
    lease: JobLease,
    end: { readonly status: 'done' | 'skipped'; readonly receipt?: string | null },
  ): Promise<Job>
  /** Fails for good. */
  fail(lease: JobLease, end: { readonly status: 'failed' | 'rejected'; readonly error: ErrorReport }): Promise<Job>
  /** Back into the queue after a transient failure, not to be claimed as the next before `notBeforeMs`. */
  retryAt(lease: JobLease, notBeforeMs: number, error: ErrorReport): Promise<Job>
  /** Gives the job back unharmed: at a shutdown, or while it goes on at the service. */
  release(
    lease: JobLease,
    as: { readonly status: 'queued' | 'waiting-remote'; readonly notBeforeMs?: number | null },
  ): Promise<Job>
  /** Undoes a claim: another may have the job at once, and it counts as no attempt. */
  putBack(claimed: ClaimedJob): Promise<void>

  get(id: string): Promise<Job | null>
  getByKey(key: string): Promise<Job | null>
  /** Newest first. */
  list(filter?: JobFilter): Promise<Job[]>
  counts(): Promise<JobCount[]>
  setPriority(id: string, priority: number): Promise<Job | null>
  /** An ended job goes back into the queue, its state kept, its attempts counted anew; one that has not ended is ready at once. */
  requeue(id: string): Promise<Job | null>
  /** Makes jobs ready that wait for their next try after a failure; one that was ordered for a time keeps it. @returns how many */
  hasten(filter: HastenFilter): Promise<number>
  /** Deletes a job; false where there is none or a worker that lives has it. */
  forget(id: string): Promise<boolean>
  /** Deletes the jobs that ended before then. @returns how many */
  forgetEnded(beforeMs: number): Promise<number>

  /** Stops `claimNext` for a group, or for all with null. */
  pause(group: string | null, reason: string): Promise<void>
  resume(group: string | null): Promise<void>
  pauses(): Promise<Pause[]>

  close(): Promise<void>
}
