import { errorReport, InterruptedError, toVoxmuxError, type VoxmuxError } from '../../core/errors.js'
import { type Logger, silentLogger } from '../../core/logger.js'
import { WakeUp } from '../../core/waiting.js'
import { isLeaseLost } from '../leases/lease-keeper.js'
import { type HeldJob, holdJob } from './held-job.js'
import type { Job, JobRequest } from './job.js'
import { endFor, endJob, type RetryDelay, retryForADay } from './job-retries.js'
import { type ClaimedJob, DEFAULT_LEASE_MS, type JobStore, type JobWatch } from './job-store.js'

export interface JobQueueOptions {
  readonly store: JobStore
  /**
   * Runs one job. Returning completes it as `done`, unless it was ended through the held job. Throwing retries it
   * (transient fault), delays it (still running remotely), releases it (interrupted), rejects it (pre-check) or fails
   * it for good. It must end soon after `held.signal` aborts.
   */
  readonly run: (held: HeldJob) => Promise<void>
  /** Jobs that this process runs at the same time; the rest stay queued. */
  readonly concurrency: number
  /** Only these groups; default all. */
  readonly groups?: readonly string[]
  /** Interval at which new and due jobs are searched; default 1000. */
  readonly pollMs?: number
  readonly leaseMs?: number
  /** Default: back off for a day. */
  readonly retryDelay?: RetryDelay
  /** Called when a run throws, when its end cannot be written, and when no job runs and none can be claimed. */
  readonly onFault?: (error: VoxmuxError) => void
  readonly logger?: Logger
}

/** Runs the jobs of a {@link JobStore}: limits concurrency, renews leases, and releases all jobs when it stops. */
export class JobQueue {
  readonly #store: JobStore
  readonly #options: Required<Omit<JobQueueOptions, 'store' | 'groups'>> & Pick<JobQueueOptions, 'groups'>
  readonly #held = new Map<HeldJob, Promise<void>>()
  readonly #wakeUp = new WakeUp()
  #stop = new AbortController()
  #loop: Promise<void> | undefined

  constructor({ store, ...options }: JobQueueOptions) {
    this.#store = store
    this.#options = {
      ...{ pollMs: 1000, leaseMs: DEFAULT_LEASE_MS, retryDelay: retryForADay, onFault: () => {}, logger: silentLogger },
      ...options,
    }
  }

  /** Number of jobs running in this process. */
  get running(): number {
    return this.#held.size
  }

  /** Enqueues (idempotent by key) and wakes the workers of this process. */
  async enqueue(request: JobRequest): Promise<{ readonly job: Job; readonly created: boolean }> {
    const answer = await this.#store.enqueue(request)
    this.wake()
    return answer
  }

  /** Searches for jobs now: after another code path enqueued, requeued or resumed one. */
  wake(): void {
    this.#wakeUp.now()
  }

  /**
   * Runs one given job now, even if it is not due, its group is paused or `concurrency` is reached.
   *
   * @returns false if it cannot be claimed (held by another worker, or ended); true when it is over, however it ended
   */
  async runByKey(key: string): Promise<boolean> {
    const claim = await this.#store.claim(key, { leaseMs: this.#options.leaseMs })
    if (claim.outcome !== 'claimed') return false
    await this.#take(claim, this.#stop.signal)
    return true
  }

  /**
   * Cancels a job. If this process runs it, resolves when that attempt is over. Another process finds out at its next
   * write, and before it publishes.
   *
   * @returns null if the job does not exist or has ended
   */
  async cancel(id: string, error: VoxmuxError): Promise<Job | null> {
    const cancelled = await this.#store.cancel(id, errorReport(error))
    for (const [held, ended] of this.#held) {
      if (cancelled === null || held.job.id !== id) continue
      await held.beat()
      await ended
    }
    return cancelled
  }

  /** Starts to claim jobs. Does nothing if it has started. */
  start(): void {
    if (this.#loop) return
    this.#stop = new AbortController()
    this.#loop = this.#claimLoop(this.#stop.signal)
  }

  /** Claims no more jobs, interrupts and releases the running ones, and resolves when all of that is done. */
  async stop(): Promise<void> {
    this.#stop.abort(new InterruptedError('The worker stops.'))
    this.wake()
    await this.#loop
    await Promise.all(this.#held.values())
    this.#loop = undefined
  }

  async #claimLoop(signal: AbortSignal): Promise<void> {
    const { pollMs, onFault, logger } = this.#options
    const watch = await this.#watch()
    let lastMs = Date.now()
    // Said once: a disk may be full for the whole night.
    let said: string | undefined
    while (!signal.aborted) {
      try {
        // After a freeze, renew the held leases before claiming more. Otherwise the process could claim its own jobs
        // twice.
        if (Date.now() - lastMs > this.#options.leaseMs / 2)
          await Promise.all([...this.#held.keys()].map((held) => held.beat()))
        lastMs = Date.now()
        await this.#fill(signal)
        if (said !== undefined) logger.info({}, 'The job store responds again.')
        said = undefined
      } catch (thrown) {
        const error = toVoxmuxError(thrown)
        if (said !== error.message) logger.warn({ error: error.message }, 'The job store does not respond. Retrying.')
        said = error.message
        if (this.running === 0) onFault(error)
      }
      await this.#wakeUp.wait(watch?.waitMs(pollMs) ?? pollMs)
    }
    await watch?.stop()
  }

  /** Without a watch, the queue polls. */
  async #watch(): Promise<JobWatch | undefined> {
    try {
      return await this.#store.watch(() => this.wake())
    } catch (error) {
      this.#options.logger.warn({ error: toVoxmuxError(error).message }, 'The job store cannot report new jobs.')
      return undefined
    }
  }

  async #fill(signal: AbortSignal): Promise<void> {
    const { concurrency, groups, leaseMs } = this.#options
    while (this.#held.size < concurrency && !signal.aborted) {
      const claimed = await this.#store.claimNext({ leaseMs, groups })
      if (!claimed) return
      void this.#take(claimed, signal)
    }
  }

  #take(claimed: ClaimedJob, signal: AbortSignal): Promise<void> {
    const held = holdJob(this.#store, claimed, { signal, leaseMs: this.#options.leaseMs })
    const running = this.#run(held).finally(() => {
      this.#held.delete(held)
      this.wake()
    })
    this.#held.set(held, running)
    return running
  }

  /** Never rejects: one job's failure must not stop the others. */
  async #run(held: HeldJob): Promise<void> {
    const { run, retryDelay, onFault, logger } = this.#options
    const log = { id: held.job.id, key: held.job.key }
    try {
      await run(held)
      if (!held.over) await held.complete({ status: 'done' })
    } catch (thrown) {
      const error = toVoxmuxError(thrown, held.job.input)
      logger.warn({ ...log, code: error.code }, error.message)
      onFault(error)
      if (held.over || isLeaseLost(held.signal.reason)) return held.abandon()
      // If only a voice was lost, the job is free at once: after a change of the clock, its lease could last for weeks.
      if (isLeaseLost(error)) return void (await held.release({ status: 'queued' }).catch(() => held.abandon()))
      await endJob(held, endFor(held.job, error, retryDelay), error).catch((thrownAtEnd) => {
        const fault = toVoxmuxError(thrownAtEnd)
        // The lease expires by itself, and another worker claims the job.
        logger.error(
          { ...log, error: fault.message },
          'The end of a job could not be written. Its lease expires, and it runs again.',
        )
        onFault(fault)
        held.abandon()
      })
    }
  }
}
