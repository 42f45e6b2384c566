import type { ErrorReport } from '../../core/errors.js'
import type { FileIdentity, Job, JobRequest, JobState, JobStatus } from './job.js'

/** The right to run a job, until its time is over without a heartbeat. */
export interface JobLease {
  readonly jobId: string
  readonly token: string
}

export interface ClaimedJob {
  readonly job: Job
  readonly lease: JobLease
}

/** Result of claiming one given job. */
export type ClaimOutcome =
  | ({ readonly outcome: 'claimed' } & ClaimedJob)
  /** Another live worker holds it. */
  | { readonly outcome: 'held'; readonly job: Job }
  /** It has ended; see `requeue`. */
  | { readonly outcome: 'ended'; readonly job: Job }
  | { readonly outcome: 'unknown' }

export interface ClaimOptions {
  /** Default {@link DEFAULT_LEASE_MS}. */
  readonly leaseMs?: number
  /** Only jobs of these groups; default all. */
  readonly groups?: readonly string[] | undefined
  readonly exceptGroups?: readonly string[]
}

/** How long a lease is valid without a heartbeat. A holder that died on this host loses it at once. */
export const DEFAULT_LEASE_MS = 60_000

/** Default length of a list. */
export const DEFAULT_LIST_LIMIT = 100

/** Progress that a worker records. Absent values stay as they are. */
export interface JobCheckpoint {
  /** Merged into the state: each given property replaces the stored one. */
  readonly state?: JobState | undefined
  readonly status?: 'working' | 'waiting-remote'
  /** New path of an input that was renamed. */
  readonly input?: string
  readonly inputIdentity?: FileIdentity | undefined
  readonly output?: string
  readonly publishedSha256?: string
}

export interface JobFilter {
  readonly statuses?: readonly JobStatus[] | undefined
  readonly group?: string | undefined
  /** Exact path of the input. */
  readonly input?: string | undefined
  /** Part of the input's path; letters from a to z match in either case. */
  readonly inputPart?: string | undefined
  /** Exact path of an output: only jobs that published one there. */
  readonly published?: string | undefined
  /** Only jobs created before this one: the last id of the previous page. */
  readonly before?: string | undefined
  /** Default {@link DEFAULT_LIST_LIMIT}. */
  readonly limit?: number
}

/** Selects waiting retries to run now. */
export interface ExpediteFilter {
  /** Error codes of the failures. */
  readonly codes: readonly string[]
  /** Largest number of jobs; the soonest due come first. */
  readonly limit: number
  /** Only jobs delayed at least this long ago; default all. */
  readonly putOffForMs?: number
  /** Only jobs of these groups; default all. Jobs of a paused group keep waiting. */
  readonly groups?: readonly string[] | undefined
}

export interface JobCount {
  readonly group: string
  readonly status: JobStatus
  readonly count: number
}

/** A pause of one group, or of all if `group` is null. */
export interface Pause {
  readonly group: string | null
  /** Shown to people. */
  readonly reason: string
  readonly sinceMs: number
}

/**
 * Durable jobs shared by many processes. Every method with a lease throws TransientError `ERR_LEASE_LOST` when the
 * lease is no longer valid, and then changes nothing.
 */
export interface JobStore {
  /** Idempotent by key: a job that exists, ended or not, is returned as it is with `created` false. */
  enqueue(request: JobRequest): Promise<{ readonly job: Job; readonly created: boolean }>

  /** Claims one given job, even if it is not due or its group is paused. */
  claim(key: string, options?: Pick<ClaimOptions, 'leaseMs'>): Promise<ClaimOutcome>
  /** Claims the next job: highest priority, then the group with the oldest turn, then the oldest. */
  claimNext(options?: ClaimOptions): Promise<ClaimedJob | null>
  /** Frees the jobs of processes that died on this host. @returns true if there were any */
  freeDead(): Promise<boolean>
  /** Renews a lease by its full time. An expired lease without a new holder is renewed too. */
  heartbeat(lease: JobLease, leaseMs?: number): Promise<void>
  checkpoint(lease: JobLease, checkpoint: JobCheckpoint): Promise<Job>
  /**
   * Takes an output for a job until its lease ends. A later job of the same input may take it too.
   *
   * @param path the same for every way to that file
   * @returns null, or the input of which a job with a valid lease is making that output. It may be the input of this job,
   *   with other settings.
   */
  takeOutput(lease: JobLease, path: string): Promise<string | null>

  complete(
    lease: JobLease,
    end: { readonly status: 'done' | 'skipped'; readonly receipt?: string | null },
  ): Promise<Job>
  /** Fails the job for good. */
  fail(lease: JobLease, end: { readonly status: 'failed' | 'rejected'; readonly error: ErrorReport }): Promise<Job>
  /** Returns the job to the queue after a transient failure. `claimNext` skips it before `notBeforeMs`. */
  retryAt(lease: JobLease, notBeforeMs: number, error: ErrorReport): Promise<Job>
  /** Releases the job unharmed: at a shutdown, or while the service processes it. */
  release(
    lease: JobLease,
    as: { readonly status: 'queued' | 'waiting-remote'; readonly notBeforeMs?: number | null },
  ): Promise<Job>
  /** Undoes a claim: the job is available at once, and no attempt is counted. */
  putBack(claimed: ClaimedJob): Promise<void>

  get(id: string): Promise<Job | null>
  getByKey(key: string): Promise<Job | null>
  /** Newest first. */
  list(filter?: JobFilter): Promise<Job[]>
  counts(): Promise<JobCount[]>
  setPriority(id: string, priority: number): Promise<Job | null>
  /** Returns an ended job to the queue with its state and no attempts. Another is ready at once. */
  requeue(id: string): Promise<Job | null>
  /** Makes jobs ready that wait for a retry. A job with a requested time keeps it. @returns their number */
  expedite(filter: ExpediteFilter): Promise<number>
  /**
   * Fails a job that has not ended, and takes the lease from the worker that runs it. Null if the job does not exist or
   * has ended.
   */
  cancel(id: string, error: ErrorReport): Promise<Job | null>
  /** Deletes a job. Returns false if it does not exist or a live worker holds it. */
  forget(id: string): Promise<boolean>
  /** Deletes the jobs that ended before that time. @returns their number */
  forgetEnded(beforeMs: number): Promise<number>

  /** Stops `claimNext` for a group, or for all with null. */
  pause(group: string | null, reason: string): Promise<void>
  resume(group: string | null): Promise<void>
  pauses(): Promise<Pause[]>

  /** Reports jobs that became ready, of this and other processes, if the store can. */
  watch(onReady: () => void): Promise<JobWatch>
  close(): Promise<void>
}

export interface JobWatch {
  /** How long to wait before the next `claimNext`: longer than `pollMs` while the store reports what becomes ready. */
  waitMs(pollMs: number): number
  stop(): Promise<void>
}
