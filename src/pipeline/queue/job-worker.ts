import { JobFailedError, toVoxmuxError, type VoxmuxError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import { DAY_MS } from '../../core/time.js'
import {
  endJob,
  type HeldJob,
  isLeaseLost,
  type Job,
  type JobEnd,
  JobQueue,
  type RetryDelay,
  retryForADay,
} from '../../ledger/index.js'
import type { PipelineContext } from '../context.js'
import type { JobEvent, ProgressEvent, Stage } from '../events.js'
import { endOfJob, faultOfDaemon } from '../job/job-endings.js'
import { endPublished, runJobLife } from '../job/job-life.js'
import { concernsAccount, type JobOutcome, outcomeOfError, outcomeOfFinished } from '../job/job-outcome.js'
import { JobReporter } from '../job/job-reporter.js'
import { jobKindOf } from '../job/kinds/job-kind.js'
import { outputAsInput } from '../job/output-as-input.js'
import type { JobHooks } from '../job-hooks.js'
import { AccountGuard } from './account-guard.js'
import { planRequestOf, type QueuedRecord, queuedRecordOf } from './queued-file.js'
import { remediesOfQueued } from './retry-job.js'
import { ServiceReturn } from './service-return.js'

export interface JobWorkerOptions {
  /** Number of jobs in progress at once in this process. */
  readonly concurrency: number
  /** Groups to take jobs from; default all. */
  readonly groups?: readonly string[] | undefined
  /** Hooks for every job, called after those of the context. */
  readonly hooks?: readonly JobHooks[] | undefined
  /** Called with every event and the id of its job. A deferred job sends a `file` event of status `pending`. */
  readonly onEvent?: ((event: JobEvent) => void) | undefined
  readonly logger?: Logger | undefined
  /** Pause between two searches for jobs of other processes; default 1000. */
  readonly pollMs?: number | undefined
  /** Pause before a retry; by default it grows for a day. */
  readonly retryDelay?: RetryDelay | undefined
  /** First and longest time between two tries of a failing account or service; default 30 s and 10 min. */
  readonly probeMs?: { readonly first: number; readonly longest: number } | undefined
}

/** A job that a worker of this process is running. */
interface RunningJob {
  readonly job: Job
  /** Null until the first stage reports progress. */
  readonly stage: Stage | null
  /** Progress of that stage, 0 to 100. */
  readonly percent: number
  /** Unix milliseconds. */
  readonly sinceMs: number
}

/** Runs the queued jobs of a store. */
export interface JobWorker {
  start(): void
  /** Stops the intake, releases the running jobs, and resolves when the store has that. */
  stop(): Promise<void>
  /** Looks for jobs at once, because this process enqueued one. */
  wake(): void
  /**
   * Fails a job with `ERR_JOB_CANCELLED`, whichever process runs it, unless it has ended. Its voices stay in the ledger,
   * and a retry continues with them.
   */
  cancel(id: string): Promise<void>
  /** True once a job of this worker showed whether the service takes its account, which is paused. */
  readonly hasTriedAccount: boolean
  /** The running jobs, the oldest first. */
  readonly running: readonly RunningJob[]
}

/** Opens a worker over the context's store. It runs jobs with the same code as `runJob`. Call `start` to begin. */
export function openJobWorker(context: PipelineContext, options: JobWorkerOptions): JobWorker {
  return new QueueWorker(context, options)
}

/** Deferral of jobs that no worker may take until the process that made them claims them by key. */
const NOT_OURS_MS = 100 * 365 * DAY_MS

const PROBE_MS = { first: 30_000, longest: 600_000 }

class QueueWorker implements JobWorker {
  readonly #context: PipelineContext
  readonly #options: JobWorkerOptions
  readonly #logger: Logger
  readonly #queue: JobQueue
  readonly #guard: AccountGuard
  readonly #serviceReturn: ServiceReturn
  readonly #running = new Map<string, RunningJob>()

  constructor(context: PipelineContext, options: JobWorkerOptions) {
    const { concurrency, groups, pollMs, logger = context.logger, probeMs = PROBE_MS } = options
    this.#context = context
    this.#options = options
    this.#logger = logger
    this.#queue = new JobQueue({
      ...{ store: context.jobs, concurrency, logger, run: (held) => this.#run(held) },
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

  get running(): readonly RunningJob[] {
    return [...this.#running.values()]
  }

  get hasTriedAccount(): boolean {
    return this.#guard.hasTried
  }

  start(): void {
    this.#queue.start()
    this.#guard.start()
    // A service in this process is always reachable.
    if (!this.#context.isEmbedded) this.#serviceReturn.start()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#guard.stop(), this.#serviceReturn.stop(), this.#queue.stop()])
  }

  wake(): void {
    this.#queue.wake()
  }

  async cancel(id: string): Promise<void> {
    const error = new JobFailedError('ERR_JOB_CANCELLED', 'The job was cancelled. Nothing is lost.', {
      remedies: ['Plan and run it again. It continues, and nothing is paid twice.'],
    })
    const job = await this.#queue.cancel(id, error)
    if (job === null) return
    this.#logger.info({ job: id, input: job.input }, 'job cancelled')
    this.#options.onEvent?.(outcomeOfError({ id, input: job.input }, error).event)
  }

  /** Runs one ready job although all are paused: the oldest of the newest ones. */
  async #probe(): Promise<void> {
    const { groups } = this.#options
    const waiting = await this.#context.jobs.list({ statuses: ['queued'] })
    const own = waiting.filter((job) => job.state.order !== undefined && (groups?.includes(job.group) ?? true))
    for (const job of own.reverse()) if (await this.#queue.runByKey(job.key)) return
  }

  async #run(held: HeldJob): Promise<void> {
    const { job } = held
    const reporter = this.#reporterOf(held)
    this.#running.set(job.id, { job, stage: null, percent: 0, sinceMs: Date.now() })
    try {
      const record = queuedRecordOf(job)
      if (record === null) {
        // It goes back to the process that made it. A worker must not pay for a job that a person interrupted.
        await held.release({ status: 'queued', notBeforeMs: Date.now() + NOT_OURS_MS })
        return
      }
      this.#logger.info({ job: job.id, input: job.input, group: job.group, attempt: job.attempts }, 'job begins')
      reporter.learn({ data: record.data })
      const outcome = await this.#runLife(held, record, reporter)
      this.#serviceReturn.reached()
      const { status, output } = outcome.event
      this.#logger.info({ job: job.id, input: job.input, status, output }, 'job ended')
      this.#options.onEvent?.(outcome.event)
    } catch (thrown) {
      // Another process that has taken over the job has removed the files of this attempt, which explains every fault.
      if (!held.signal.aborted) await held.beat()
      const error = toVoxmuxError(held.signal.aborted ? held.signal.reason : thrown, job.input)
      // Another process took over the job and reports its end.
      if (isLeaseLost(error)) throw error
      await this.#end(held, await faultOfDaemon(error, held.job), reporter)
    } finally {
      this.#running.delete(job.id)
    }
  }

  #reporterOf({ job, signal }: HeldJob): JobReporter {
    const { id, input, group, preset } = job
    let isTaken = false
    let isDealtWith = false
    return new JobReporter({
      facts: { id, group, preset: preset ?? '', input, output: job.output, data: {}, signal },
      hooks: [...(this.#context.hooks ?? []), ...(this.#options.hooks ?? [])],
      onEvent: (event) => {
        if (event.event === 'progress' && isSent(event) && !isTaken) {
          isTaken = true
          this.#guard.accepted().catch((cause) => this.#logger.debug({ cause }, 'could not end the pause'))
        }
        if (event.event === 'progress' && event.stage === 'process' && !isDealtWith) {
          isDealtWith = true
          this.#serviceReturn.reached()
        }
        const entry = this.#running.get(id)
        if (event.event === 'progress' && entry) {
          this.#running.set(id, { ...entry, stage: event.stage, percent: event.percent })
          if (event.percent === 100) this.#logger.info({ job: id, stage: event.stage }, 'stage done')
        }
        this.#options.onEvent?.(event)
      },
      logger: this.#logger,
    })
  }

  async #runLife(held: HeldJob, record: QueuedRecord, reporter: JobReporter): Promise<JobOutcome> {
    const request = planRequestOf(held.job, record)
    const own = await outputAsInput(request, this.#context.jobs, held.signal)
    if (own !== null) {
      await held.complete({ status: 'skipped' })
      return outcomeOfFinished(reporter.facts, own)
    }
    const sides = { context: this.#context, reporter }
    const finished = await runJobLife(jobKindOf(request, this.#context), {
      ...sides,
      claim: async ({ output }) => {
        await held.checkpoint({ output })
        return held
      },
    }).catch((error: unknown) => endPublished(error, held, sides))
    return outcomeOfFinished(reporter.facts, finished)
  }

  async #end(held: HeldJob, error: VoxmuxError, reporter: JobReporter): Promise<void> {
    const { job } = held
    if (concernsAccount(error)) await this.#guard.trouble(error)
    const end = await excused(endOfJob(job, error, this.#options.retryDelay ?? retryForADay), error, reporter)
    const log = { job: job.id, input: job.input, code: error.code, errorCode: error.errorCode, cause: error.cause }
    if (end.kind === 'fail') {
      const remedies = remediesOfQueued(error, job.id)
      this.#logger.error({ ...log, remedies }, `${job.input} ${end.status}: ${error.message}`)
      await reporter.failed({ status: end.status, error })
    } else if (end.kind === 'retry') {
      this.#logger.warn({ ...log, atMs: end.atMs }, `${job.input} will be retried: ${error.message}`)
    }
    await endJob(held, end, error)
    this.#serviceReturn.met(error)
    const status = end.kind === 'fail' ? end.status : 'pending'
    this.#options.onEvent?.(outcomeOfError({ id: job.id, input: job.input }, error, status).event)
  }
}

/** True once the service has taken a voice of the job. */
function isSent({ stage, percent }: ProgressEvent): boolean {
  return stage === 'process' || (stage === 'upload' && percent > 0)
}

/** The same end, or another try if a hook reports that the fault is not the file's. */
async function excused(end: JobEnd, error: VoxmuxError, reporter: JobReporter): Promise<JobEnd> {
  if (end.kind !== 'fail') return end
  const delayMs = await reporter.excused({ status: end.status, error })
  return delayMs === undefined ? end : { kind: 'retry', atMs: Date.now() + delayMs }
}
