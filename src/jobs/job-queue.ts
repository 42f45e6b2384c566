import { setMaxListeners } from 'node:events'
import { InterruptedError, toVoxmuxError } from '../core/errors.js'
import { type Logger, silentLogger } from '../core/logger.js'
import { type HeldJob, holdJob } from './held-job.js'
import type { Job, JobRequest } from './job.js'
import { endFor, endJob, type RetryDelay, retryForADay } from './job-retries.js'
import { type ClaimedJob, DEFAULT_LEASE_MS, type JobStore } from './job-store.js'
import { isLeaseLost } from './lease-keeper.js'
import { WakeUp } from './wake-up.js'

export interface JobQueueOptions {
  readonly store: JobStore
  /**
   * Does one job. Returning completes it as `done`, unless it was ended through the held job; throwing retries it
   * (transient faults), puts it off (still running remotely), gives it back (interrupted), rejects it (pre-check) or
   * fails it for good. It has to end soon after `held.signal` fires.
   */
  readonly work: (held: HeldJob) => Promise<void>
  /** Jobs in work at once in this process; the rest stays queued. */
  readonly concurrency: number
  /** Only these groups; default all. */
  readonly groups?: readonly string[]
  /** How often to look for what other processes enqueued and what has come due; default 1000. */
  readonly pollMs?: number
  readonly leaseMs?: number
  /** Default: backing off for a day. */
  readonly retryDelay?: RetryDelay
  readonly logger?: Logger
}

/** Works off a {@link JobStore}: back-pressure, wake-ups, leases kept alive, and everything given back at a stop. */
export class JobQueue {
  readonly #store: JobStore
  readonly #options: Required<Omit<JobQueueOptions, 'store' | 'groups'>> & Pick<JobQueueOptions, 'groups'>
  readonly #held = new Map<HeldJob, Promise<void>>()
  readonly #wakeUp = new WakeUp()
  #stop = new AbortController()
  #loop: Promise<void> | undefined

  constructor({ store, ...options }: JobQueueOptions) {
    this.#store = store
    const defaults = { pollMs: 1000, leaseMs: DEFAULT_LEASE_MS, retryDelay: retryForADay, logger: silentLogger }
    this.#options = { ...defaults, ...options }
  }

  /** Jobs in work in this process. */
  get working(): number {
    return this.#held.size
  }

  /** Enqueues (idempotent by key) and wakes the workers of this process. */
  async enqueue(request: JobRequest): Promise<{ readonly job: Job; readonly created: boolean }> {
    const answer = await this.#store.enqueue(request)
    this.wake()
    return answer
  }

  /** Looks for work now: after something was enqueued, requeued or resumed past this queue. */
  wake(): void {
    this.#wakeUp.now()
  }

  /**
   * Does one given job now, whether its time has come and its group is paused or not, beyond `concurrency`.
   *
   * @returns false where it cannot be had: it is another's, or has ended; true when it is over, however it ended
   */
  async workOn(key: string): Promise<boolean> {
    const claim = await this.#store.claim(key, { leaseMs: this.#options.leaseMs })
    if (claim.outcome !== 'claimed') return false
    await this.#take(claim, this.#stop.signal)
    return true
  }

  /** Begins to work; once begun, nothing. */
  start(): void {
    if (this.#loop) return
    this.#stop = new AbortController()
    // Every job in hand listens to it.
    setMaxListeners(0, this.#stop.signal)
    this.#loop = this.#run(this.#stop.signal)
  }

  /** Takes nothing more, interrupts what is in work, gives it back, and ends when all that is done. */
  async stop(): Promise<void> {
    this.#stop.abort(new InterruptedError('The worker stops.'))
    this.wake()
    await this.#loop
    await Promise.all(this.#held.values())
    this.#loop = undefined
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { pollMs, logger } = this.#options
    let lastMs = Date.now()
    while (!signal.aborted) {
      try {
        // A process that was frozen renews what it holds before it asks for more, or it would take its own jobs twice.
        if (Date.now() - lastMs > this.#options.leaseMs / 2)
          await Promise.all([...this.#held.keys()].map((held) => held.beat()))
        lastMs = Date.now()
        await this.#fill(signal)
      } catch (error) {
        logger.warn({ error: toVoxmuxError(error).message }, 'The job store does not answer; trying again.')
      }
      await this.#wakeUp.wait(pollMs)
    }
  }

  async #fill(signal: AbortSignal): Promise<void> {
    const { concurrency, groups, leaseMs } = this.#options
    while (this.#held.size < concurrency && !signal.aborted) {
      const claimed = await this.#store.claimNext({ leaseMs, ...(groups && { groups }) })
      if (!claimed) return
      void this.#take(claimed, signal)
    }
  }

  #take(claimed: ClaimedJob, signal: AbortSignal): Promise<void> {
    const held = holdJob(this.#store, claimed, { signal, leaseMs: this.#options.leaseMs })
    const working = this.#work(held).finally(() => {
      this.#held.delete(held)
      this.wake()
    })
    this.#held.set(held, working)
    return working
  }

  /** Never rejects: whatever happens to one job, the others go on. */
  async #work(held: HeldJob): Promise<void> {
    const { work, retryDelay, logger } = this.#options
    const log = { id: held.job.id, key: held.job.key }
    try {
      await work(held)
      if (!held.over) await held.complete({ status: 'done' })
    } catch (thrown) {
      const error = toVoxmuxError(thrown, held.job.input)
      logger.warn({ ...log, code: error.code }, error.message)
      if (held.over || isLeaseLost(error) || isLeaseLost(held.signal.reason)) return held.forsake()
      await endJob(held, endFor(held.job, error, retryDelay), error).catch((fault) => {
        // The lease runs out by itself, and somebody takes the job up again.
        logger.error({ ...log, error: toVoxmuxError(fault).message }, 'The end of a job could not be written.')
        held.forsake()
      })
    }
  }
}
