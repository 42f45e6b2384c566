import { keepLease } from '../leases/lease-keeper.js'
import type { Job } from './job.js'
import { type ClaimedJob, DEFAULT_LEASE_MS, type JobStore } from './job-store.js'

/** A claimed job. Its lease is renewed automatically until the job ends or is released. */
export interface HeldJob {
  /** As last written. */
  readonly job: Job
  /** Aborts when the lease is lost (`ERR_LEASE_LOST`) or the caller aborts. */
  readonly signal: AbortSignal
  /** True once the job was ended, retried or released through this object. */
  readonly over: boolean
  /** Renews the lease at once, before other jobs are claimed, for example after the process was frozen. */
  beat(): Promise<void>
  /** Throws `ERR_LEASE_LOST` if another worker has the job now. Publish nothing then. */
  checkpoint(...args: Tail<JobStore['checkpoint']>): Promise<Job>
  /** See `JobStore`. */
  takeOutput(...args: Tail<JobStore['takeOutput']>): Promise<string | null>
  complete(...args: Tail<JobStore['complete']>): Promise<Job>
  fail(...args: Tail<JobStore['fail']>): Promise<Job>
  retryAt(...args: Tail<JobStore['retryAt']>): Promise<Job>
  release(...args: Tail<JobStore['release']>): Promise<Job>
  /** Stops renewing without writing: the lease is lost, or the store cannot be written. */
  abandon(): void
}

type Tail<F> = F extends (first: never, ...rest: infer R) => unknown ? R : never

/** Holds a claimed job. */
export function holdJob(
  store: JobStore,
  claimed: ClaimedJob,
  { signal, leaseMs = DEFAULT_LEASE_MS }: { readonly signal?: AbortSignal | undefined; readonly leaseMs?: number } = {},
): HeldJob {
  const { lease } = claimed
  const keeper = keepLease(() => store.heartbeat(lease, leaseMs), leaseMs, signal)
  let job = claimed.job
  let over = false
  const write = async (writing: Promise<Job>) => {
    job = await writing
    return job
  }
  /** Renewals stop only after the end is written: with a full disk that may take several attempts. */
  const end = async (writing: Promise<Job>) => {
    await write(writing)
    over = true
    keeper.stop()
    return job
  }
  return {
    get job() {
      return job
    },
    get over() {
      return over
    },
    signal: keeper.signal,
    beat: keeper.beat,
    checkpoint: (...args) => write(store.checkpoint(lease, ...args)),
    takeOutput: (...args) => store.takeOutput(lease, ...args),
    complete: (...args) => end(store.complete(lease, ...args)),
    fail: (...args) => end(store.fail(lease, ...args)),
    retryAt: (...args) => end(store.retryAt(lease, ...args)),
    release: (...args) => end(store.release(lease, ...args)),
    abandon: keeper.stop,
  }
}
