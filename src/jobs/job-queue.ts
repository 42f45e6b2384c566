import type { ErrorReport } from '../core/errors.js'
import { type Logger, silentLogger } from '../core/logger.js'
import type { Job, JobRequest } from './job.js'
import type { JobCheckpoint, JobStore } from './job-store.js'

/** A job in hand: its lease is kept up by itself, and `signal` fires when it is lost or the queue stops. */
export interface HeldJob {
  readonly job: Job
  /** Fires with the reason: TransientError `ERR_LEASE_LOST`, or InterruptedError at a stop. */
  readonly signal: AbortSignal
  /** Throws `ERR_LEASE_LOST` where the job is another's by now: publish nothing then. */
  checkpoint(checkpoint: JobCheckpoint): Promise<Job>
  complete(end: { readonly status: 'done' | 'skipped'; readonly receipt?: string | null }): Promise<Job>
  fail(end: { readonly status: 'failed' | 'rejected'; readonly error: ErrorReport }): Promise<Job>
  retryAt(notBeforeMs: number, error: ErrorReport): Promise<Job>
  release(as: { readonly status: 'queued' | 'waiting-remote'; readonly notBeforeMs?: number | null }): Promise<Job>
}

export interface JobQueueOptions {
  readonly store: JobStore
  /**
   * Does one job and ends it through the held job. One that returns without an end is released to the queue;
   * one that throws is failed for good, or retried where the error is transient.
   */
  readonly work: (held: HeldJob) => Promise<void>
  /** Jobs in work at once in this process; the rest stays queued. */
  readonly concurrency: number
  /** Only these groups; default all. */
  readonly groups?: readonly string[]
  /** How often to look for what other processes enqueued; default 1000. */
  readonly pollMs?: number
  readonly leaseMs?: number
  readonly logger?: Logger
}

/** Works off a {@link JobStore}: back-pressure, wake-ups, leases kept alive, and everything given back at a stop. */
export class JobQueue {
  readonly #options: JobQueueOptions & { readonly logger: Logger }

  constructor(options: JobQueueOptions) {
    this.#options = { logger: silentLogger, ...options }
  }

  /** Enqueues (idempotent by key) and wakes the worker of this process. */
  async enqueue(request: JobRequest): Promise<Job> {
    const { job } = await this.#options.store.enqueue(request)
    return job
  }

  /** Begins to work. */
  start(): void {}

  /** Takes nothing more, aborts what is in work, gives it back and waits for that. */
  async stop(): Promise<void> {}
}
