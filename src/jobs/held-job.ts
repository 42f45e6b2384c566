import type { Job } from './job.js'
import { type ClaimedJob, DEFAULT_LEASE_MS, type JobStore } from './job-store.js'
import { keepLease } from './lease-keeper.js'

/** A job in hand: its lease is kept up by itself until it is ended or given back. */
export interface HeldJob {
  /** As last written. */
  readonly job: Job
  /** Fires when the lease is lost (`ERR_LEASE_LOST`) or on the caller's abort. */
  readonly signal: AbortSignal
  /** True once the job was ended, retried or released through this object. */
  readonly over: boolean
  /** Renews the lease at once: after a long stop of the whole process, before others are asked for work. */
  beat(): Promise<void>
  /** Throws `ERR_LEASE_LOST` where the job is another's by now: publish nothing then. */
  checkpoint(...args: Tail<JobStore['checkpoint']>): Promise<Job>
  complete(...args: Tail<JobStore['complete']>): Promise<Job>
  fail(...args: Tail<JobStore['fail']>): Promise<Job>
  retryAt(...args: Tail<JobStore['retryAt']>): Promise<Job>
  release(...args: Tail<JobStore['release']>): Promise<Job>
  /** Lets the heart stop without a word: the lease is lost, or nothing can be written. */
  forsake(): void
}

type Tail<F> = F extends (first: never, ...rest: infer R) => unknown ? R : never

export interface HoldJobOptions {
  readonly signal?: AbortSignal | undefined
  readonly leaseMs?: number
}

/** Takes charge of a claimed job. */
export function holdJob(store: JobStore, claimed: ClaimedJob, options: HoldJobOptions = {}): HeldJob {
  const { signal, leaseMs = DEFAULT_LEASE_MS } = options
  const { lease } = claimed
  const keeper = keepLease(() => store.heartbeat(lease, leaseMs), leaseMs, signal)
  let job = claimed.job
  let over = false
  const write = async (writing: Promise<Job>) => {
    job = await writing
    return job
  }
  /** The heart stops only after the end is written: a full disk may make that take several tries. */
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
    complete: (...args) => end(store.complete(lease, ...args)),
    fail: (...args) => end(store.fail(lease, ...args)),
    retryAt: (...args) => end(store.retryAt(lease, ...args)),
    release: (...args) => end(store.release(lease, ...args)),
    forsake: keeper.stop,
  }
}
