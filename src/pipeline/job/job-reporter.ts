import { isAbort, PrecheckError, thrownMessage, toVoxmuxError, VoxmuxError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import { backoffMs, sleep } from '../../core/time.js'
import type { StageProgress } from '../context.js'
import type { JobEvent } from '../events.js'
import type { FailedJob, JobFacts, JobHooks, PublishedJob, Veto } from '../job-hooks.js'
import type { JobPlan } from '../plan/plan-job.js'
import { plannedSec } from '../plan/plan-tracks.js'

/** Number of tries of `afterPublish` and `onFailure`. */
const AFTERCARE_TRIES = 3
const AFTERCARE_DELAY_MS = 250

interface JobReporterOptions {
  readonly facts: JobFacts
  readonly hooks: readonly JobHooks[]
  readonly onEvent?: ((event: JobEvent) => void) | undefined
  readonly logger: Logger
}

/** Reports the life of one job: sends its events and calls the hooks in order. */
export class JobReporter {
  readonly #options: JobReporterOptions
  readonly #highest = new Map<string, number>()
  #facts: JobFacts
  #isFailureTold = false
  #paidSec = 0
  #soundSec: number | null = null

  constructor(options: JobReporterOptions) {
    this.#options = options
    this.#facts = options.facts
  }

  get facts(): JobFacts {
    return this.#facts
  }

  /** Seconds of voice that this attempt paid for. */
  get paidSec(): number {
    return this.#paidSec
  }

  /** Counts what the service charges for. */
  readonly paid = (sec: number): void => {
    this.#paidSec += sec
  }

  /** Adds known facts of the job: its id in the ledger, the signal of its lease, its output. */
  learn(known: Partial<JobFacts>): void {
    this.#facts = { ...this.#facts, ...known }
  }

  /** Reports the progress of a stage: each percent once, never a lower one. */
  readonly progress: StageProgress = (stage, percent) => {
    const { onEvent, hooks, logger } = this.#options
    const { id, input } = this.#facts
    const rounded = Math.min(100, Math.max(this.#highest.get(stage) ?? 0, Math.floor(percent)))
    if (this.#highest.get(stage) === rounded) return
    this.#highest.set(stage, rounded)
    const soundSec = this.#soundSec !== null && { soundSec: this.#soundSec }
    onEvent?.({ event: 'progress', id, input, stage, percent: rounded, ...soundSec })
    for (const hook of hooks) {
      try {
        hook.onProgress?.(this.#facts, stage, rounded)
      } catch (error) {
        logger.debug({ job: id, hook: hook.name, cause: error }, 'onProgress failed')
      }
    }
  }

  /** @throws PrecheckError `ERR_VETOED` */
  async beforePlan(): Promise<void> {
    for (const hook of this.#options.hooks) await this.#ask(hook.name, () => hook.beforePlan?.(this.#facts))
  }

  /** @throws PrecheckError `ERR_VETOED` */
  async afterPlan(plan: JobPlan): Promise<void> {
    this.#soundSec = plannedSec(plan)
    const job = { ...this.#facts, output: plan.output, plan }
    for (const hook of this.#options.hooks) await this.#ask(hook.name, () => hook.afterPlan?.(job))
  }

  /** @throws only InterruptedError */
  async published(published: Pick<PublishedJob, 'output' | 'status' | 'receipt' | 'receiptPath'>): Promise<void> {
    const job = { ...this.#facts, ...published }
    for (const hook of this.#options.hooks) await this.#care(hook.name, async () => hook.afterPublish?.(job))
  }

  /** Milliseconds to the next try, from the first hook that asks for one. */
  async excused(failure: Pick<FailedJob, 'status' | 'error'>): Promise<number | undefined> {
    for (const hook of this.#options.hooks) {
      const delayMs = await hook.excuse?.({ ...this.#facts, ...failure })
      if (delayMs !== undefined) return delayMs
    }
    return undefined
  }

  /** Calls the hooks once per job, however often it is called. @throws only InterruptedError */
  async failed(failure: Pick<FailedJob, 'status' | 'error'>): Promise<void> {
    if (this.#isFailureTold) return
    this.#isFailureTold = true
    const job = { ...this.#facts, ...failure }
    for (const hook of this.#options.hooks) await this.#care(hook.name, async () => hook.onFailure?.(job))
  }

  async #ask(name: string, ask: () => Promise<Veto> | Veto): Promise<void> {
    let reason: Veto
    let cause: unknown
    try {
      reason = await ask()
    } catch (error) {
      if (error instanceof VoxmuxError || isAbort(error)) throw error
      cause = error
      reason = thrownMessage(error)
    }
    if (reason === undefined) return
    const { input } = this.#facts
    throw new PrecheckError('ERR_VETOED', `The extension "${name}" refused ${input}: ${reason}`, {
      cause,
      input,
      remedies: [
        `Change the options of "${name}", or remove it from "extensions" in the configuration. Then run again.`,
      ],
    })
  }

  async #care(name: string, care: () => Promise<void>): Promise<void> {
    const { id, signal } = this.#facts
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await care()
      } catch (cause) {
        if (signal.aborted) throw toVoxmuxError(signal.reason)
        const { message } = toVoxmuxError(cause)
        const log = { job: id, hook: name, cause }
        if (attempt + 1 >= AFTERCARE_TRIES)
          return this.#options.logger.warn(log, `${name} failed after the job: ${message}`)
        await sleep(backoffMs(attempt, AFTERCARE_DELAY_MS, 10 * AFTERCARE_DELAY_MS), signal)
      }
    }
  }
}
