import { toVoxmuxError, type VoxmuxError } from '../core/errors.js'
import type { Logger } from '../core/logger.js'
import {
  endJob,
  type HeldJob,
  isLeaseLost,
  type Job,
  type JobEnd,
  JobQueue,
  type RetryDelay,
  retryForADay,
} from '../jobs/index.js'
import { AccountGuard } from './account-guard.js'
import type { PipelineContext } from './context.js'
import type { JobEvent, Stage } from './events.js'
import { isWebAddress } from './expand-inputs.js'
import { endOfJob, faultOfDaemon } from './job-endings.js'
import type { JobHooks } from './job-hooks.js'
import { concernsAccount, type JobOutcome, outcomeOfError, outcomeOfFinished } from './job-outcome.js'
import { JobTeller } from './job-teller.js'
import { prepareJob } from './prepare-job.js'
import { orderOf, planRequestOf, type QueuedOrder } from './queued-order.js'
import { runRemoteJob } from './run-remote-job.js'
import { ServiceReturn } from './service-return.js'
import { withDownload } from './with-download.js'
import { workOnJob } from './work-on-job.js'

export interface JobWorkerOptions {
  /** Jobs in work at once in this process. */
  readonly concurrency: number
  /** Only these groups; default all. */
  readonly groups?: readonly string[] | undefined
  /** Called after those of the context, for every job. */
  readonly hooks?: readonly JobHooks[] | undefined
  /** Every event carries the job's id. A job that is put off tells a `file` event of status `pending`, with the reason. */
  readonly onEvent?: ((event: JobEvent) => void) | undefined
  readonly logger?: Logger | undefined
  /** How often to look for what other processes enqueued; default 1000. */
  readonly pollMs?: number | undefined
  /** Default: backing off for a day. */
  readonly retryDelay?: RetryDelay | undefined
  /** Time between two tries of an account or a service that does not serve, the first and the longest; default 30 s and 10 min. */
  readonly probeMs?: { readonly first: number; readonly longest: number } | undefined
}

/** A job that a worker of this process has in hand. */
export interface JobInWork {
  readonly job: Job
  /** Null until the first stage tells of itself. */
  readonly stage: Stage | null
  /** Of that stage, 0 to 100. */
  readonly percent: number
  /** Unix milliseconds. */
  readonly sinceMs: number
}

/** Works off the orders of a store. */
export interface JobWorker {
  start(): void
  /** Takes nothing more, gives back what is in hand, and ends when that is written. */
  stop(): Promise<void>
  /** Looks for work at once: something was enqueued in this process. */
  wake(): void
  /** What is in hand now, the oldest first. */
  readonly working: readonly JobInWork[]
}

/** Opens a worker over the context's store, with the same code that `runJob` does a job with. Begin with `start`. */
export function openJobWorker(context: PipelineContext, options: JobWorkerOptions): JobWorker {
  return new OrderWorker(context, options)
}

/** Where jobs go that no worker may take, until the process that made them claims them by their key. */
const NOT_OURS_MS = 100 * 365 * 24 * 3600 * 1000

const PROBE_MS = { first: 30_000, longest: 600_000 }

class OrderWorker implements JobWorker {
  readonly #context: PipelineContext
  readonly #options: JobWorkerOptions
  readonly #logger: Logger
  readonly #queue: JobQueue
  readonly #guard: AccountGuard
  readonly #serviceReturn: ServiceReturn
  readonly #working = new Map<string, JobInWork>()

  constructor(context: PipelineContext, options: JobWorkerOptions) {
    const { concurrency, groups, pollMs, logger = context.logger, probeMs = PROBE_MS } = options
    this.#context = context
    this.#options = options
    this.#logger = logger
    this.#queue = new JobQueue({
      ...{ store: context.jobs, concurrency, logger, work: (held) => this.#work(held) },
      ...(groups && { groups }),
      ...(pollMs !== undefined && { pollMs }),
    })
    this.#guard = new AccountGuard({
      ...{ jobs: context.jobs, logger, probeMs, lookMs: pollMs },
      probe: () => this.#probe(),
    })
    this.#serviceReturn = new ServiceReturn({
      ...{ jobs: context.jobs, groups, logger, probeMs },
      ping: async (signal) => (await context.client()).ping({ signal }),
      onReady: () => this.wake(),
    })
  }

  get working(): readonly JobInWork[] {
    return [...this.#working.values()]
  }

  start(): void {
    this.#queue.start()
    this.#guard.start()
    // One in this process is never away.
    if (!this.#context.isEmbedded) this.#serviceReturn.start()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#guard.stop(), this.#serviceReturn.stop(), this.#queue.stop()])
  }

  wake(): void {
    this.#queue.wake()
  }

  /** Does the oldest of the newest jobs that wait, although all are paused. */
  async #probe(): Promise<boolean> {
    const { groups } = this.#options
    const waiting = await this.#context.jobs.list({ statuses: ['queued'] })
    const own = waiting.filter((job) => job.state.order !== undefined && (groups?.includes(job.group) ?? true))
    for (const job of own.reverse()) if (await this.#queue.workOn(job.key)) return true
    return false
  }

  async #work(held: HeldJob): Promise<void> {
    const { job } = held
    const teller = this.#tellerOf(held)
    this.#working.set(job.id, { job, stage: null, percent: 0, sinceMs: Date.now() })
    try {
      const order = orderOf(job)
      if (order === null) return await leave(held)
      this.#logger.info({ job: job.id, input: job.input, group: job.group, attempt: job.attempts }, 'job begins')
      teller.learn({ data: order.data })
      const outcome = await this.#carryOut(held, order, teller)
      this.#serviceReturn.gotThrough()
      const { status, output } = outcome.event
      this.#logger.info({ job: job.id, input: job.input, status, output }, 'job ended')
      this.#options.onEvent?.(outcome.event)
    } catch (thrown) {
      const error = toVoxmuxError(held.signal.aborted ? held.signal.reason : thrown, job.input)
      // Another has the job by now: it speaks for it.
      if (isLeaseLost(error)) throw error
      await this.#end(held, await faultOfDaemon(error, held.job), teller)
    } finally {
      this.#working.delete(job.id)
    }
  }

  #tellerOf({ job, signal }: HeldJob): JobTeller {
    const { id, input, group, preset } = job
    let isDealtWith = false
    return new JobTeller({
      facts: { id, group, preset: preset ?? '', input, output: job.output, data: {}, signal },
      hooks: [...(this.#context.hooks ?? []), ...(this.#options.hooks ?? [])],
      onEvent: (event) => {
        if (event.event === 'progress' && event.stage === 'process' && !isDealtWith) {
          isDealtWith = true
          this.#serviceReturn.gotThrough()
        }
        const entry = this.#working.get(id)
        if (event.event === 'progress' && entry) {
          this.#working.set(id, { ...entry, stage: event.stage, percent: event.percent })
          if (event.percent === 100) this.#logger.info({ job: id, stage: event.stage }, 'stage done')
        }
        this.#options.onEvent?.(event)
      },
      logger: this.#logger,
    })
  }

  async #carryOut(held: HeldJob, order: QueuedOrder, teller: JobTeller): Promise<JobOutcome> {
    const request = planRequestOf(held.job, order)
    const { signal } = held
    if (order.remote) return this.#carryOutRemotely(held, order, teller)
    const work = async (input: string) => {
      const prepared = await prepareJob({ ...request, input }, this.#context, teller)
      await held.checkpoint({ output: prepared.plan.output })
      for (const stage of ['probe', 'precheck', 'plan'] as const) teller.progress(stage, 100)
      return outcomeOfFinished(teller.facts, await workOnJob(held, prepared, this.#context, teller))
    }
    return isWebAddress(request.input) ? withDownload(request.input, this.#context, signal, work) : work(request.input)
  }

  async #carryOutRemotely(held: HeldJob, order: QueuedOrder, teller: JobTeller): Promise<JobOutcome> {
    await teller.beforePlan()
    const outcome = await runRemoteJob(planRequestOf(held.job, order), this.#context, {
      ...{ signal: held.signal, held },
      onEvent: (event) => event.event === 'progress' && teller.progress(event.stage, event.percent),
    })
    if (outcome.error) throw outcome.error
    const { output, receipt: receiptPath } = outcome.event
    if (output !== null && receiptPath !== null)
      await teller.published({ status: 'done', output, receipt: outcome.receipt, receiptPath })
    await held.complete({ status: 'done', receipt: receiptPath })
    return outcome
  }

  async #end(held: HeldJob, error: VoxmuxError, teller: JobTeller): Promise<void> {
    const { job } = held
    if (concernsAccount(error)) await this.#guard.trouble(error)
    const end = await excused(endOfJob(job, error, this.#options.retryDelay ?? retryForADay), error, teller)
    const log = { job: job.id, input: job.input, code: error.code, errorCode: error.errorCode, cause: error.cause }
    if (end.kind === 'fail') {
      this.#logger.error(log, `${job.input} ${end.status}: ${error.message}`)
      await teller.failed({ status: end.status, error })
    } else if (end.kind === 'retry') {
      this.#logger.warn({ ...log, atMs: end.atMs }, `${job.input} is tried again later: ${error.message}`)
    }
    await endJob(held, end, error)
    this.#serviceReturn.met(error)
    const status = end.kind === 'fail' ? end.status : 'pending'
    this.#options.onEvent?.(outcomeOfError({ id: job.id, input: job.input }, error, status).event)
  }
}

/** The same end, or another try where a hook says that the fault is not the file's. */
async function excused(end: JobEnd, error: VoxmuxError, teller: JobTeller): Promise<JobEnd> {
  if (end.kind !== 'fail') return end
  const delayMs = await teller.excused({ status: end.status, error })
  return delayMs === undefined ? end : { kind: 'retry', atMs: Date.now() + delayMs }
}

/** Puts a job back that a process does itself: a worker must not pay for what a person interrupted. */
async function leave(held: HeldJob): Promise<void> {
  await held.release({ status: 'queued', notBeforeMs: Date.now() + NOT_OURS_MS })
}
