import { errorReport, InterruptedError, PendingError, toVoxmuxError, type VoxmuxError } from '../../core/errors.js'
import { formatTime, sleep } from '../../core/time.js'
import { type ClaimedJob, type HeldJob, holdJob, isEnded, isLeaseLost, type Job } from '../../ledger/index.js'
import type { JobRunOptions, PipelineContext } from '../context.js'
import type { PlanRequest } from '../plan/plan-job.js'
import { reportLate } from '../report/late-report.js'
import { stillRunning } from '../voice/wait-for-voice.js'
import { shownInput } from '../web-address.js'
import { type FinishedJob, type PlannedJob, runJobLife } from './job-life.js'
import { type JobOutcome, outcomeOfError, outcomeOfFinished, statusOf } from './job-outcome.js'
import { JobReporter } from './job-reporter.js'
import { jobKindOf } from './kinds/job-kind.js'
import { outputAsInput } from './output-as-input.js'

/** Pause between two checks of a job that another process holds, in milliseconds. */
const HELD_POLL_MS = 500

/**
 * Runs one job in this process. Never throws for a fault of the job: the outcome holds it.
 *
 * A repeated job is skipped if it is done and unchanged. If another process runs it, this one waits; if an earlier run
 * was killed, this one attaches to it. An input that is an output of voxmux is skipped, and counts as its own output.
 */
export async function runJob(
  request: PlanRequest,
  context: PipelineContext,
  options: JobRunOptions = {},
): Promise<JobOutcome> {
  const run = new JobRun(request, context, options)
  let outcome: JobOutcome
  try {
    let finished =
      (await outputAsInput(request, context.jobs, options.signal)) ??
      (await runJobLife(jobKindOf(request, context), {
        ...{ context, reporter: run.reporter, waitUntilMs: options.waitUntilMs },
        claim: (planned) => run.claim(planned),
      }))
    if (finished.status === 'skipped') finished = { ...finished, ...(await run.reportLate()) }
    outcome = outcomeOfFinished(run.reporter.facts, finished)
  } catch (thrown) {
    outcome = await run.failed(thrown)
  }
  options.onEvent?.(outcome.event)
  return outcome
}

/** How a job is claimed and ended by the process that was asked for it. */
class JobRun {
  readonly reporter: JobReporter
  readonly #request: PlanRequest
  readonly #context: PipelineContext
  readonly #signal: AbortSignal
  readonly #waitUntilMs: number | undefined
  #planned: PlannedJob | undefined
  #held: HeldJob | undefined

  constructor(request: PlanRequest, context: PipelineContext, options: JobRunOptions) {
    this.#request = request
    this.#context = context
    this.#signal = options.signal ?? new AbortController().signal
    this.#waitUntilMs = options.waitUntilMs
    const { provisionalId: id, group, settings } = request
    const input = shownInput(request.input)
    this.reporter = new JobReporter({
      facts: { id, group, preset: settings.preset, input, output: null, data: {}, signal: this.#signal },
      hooks: [...(context.hooks ?? []), ...(options.hooks ?? [])],
      onEvent: options.onEvent,
      logger: context.logger,
    })
  }

  /** Enters the job into the ledger and takes its lease. Null if the job is already done, now or by another process. */
  async claim(planned: PlannedJob): Promise<HeldJob | null> {
    this.#planned = planned
    const { jobs } = this.#context
    const { key, input, output, inputIdentity, recipeHash } = planned
    const known = await jobs.getByKey(key)
    const existing = await planned.existing(known, this.#signal)
    // Claims an output whose process died before the ledger had its end, and ends that job properly.
    if (existing.kind === 'done' && (known === null || isEnded(known.status))) {
      if (known) this.reporter.learn({ id: known.id })
      return null
    }
    // Checked before the ledger has the job, so that a refused file leaves no entry.
    if (existing.kind !== 'done') await planned.requireStartable(this.#signal)
    const { group, settings } = this.#request
    const { preset } = settings
    const { job } = await jobs.enqueue({ key, group, input, output, recipeHash, preset, inputIdentity })
    this.reporter.learn({ id: job.id })
    const claimed = await this.#claimEnqueued(planned)
    if (claimed) this.#held = holdJob(jobs, claimed, { signal: this.#signal })
    return this.#held ?? null
  }

  /** Null if another process finished the job while this one waited. */
  async #claimEnqueued({ key, existing }: PlannedJob): Promise<ClaimedJob | null> {
    const { jobs } = this.#context
    let waited = false
    for (;;) {
      const claim = await jobs.claim(key)
      switch (claim.outcome) {
        case 'claimed':
          return claim
        case 'held':
          if (this.#waitUntilMs !== undefined && Date.now() >= this.#waitUntilMs)
            throw stillRunning('Another process works on it.')
          if (!waited) this.#sayWho(claim.job)
          waited = true
          await sleep(HELD_POLL_MS, this.#signal)
          break
        case 'ended':
          // Another process finished it while this one waited, or between the check and the claim.
          if (claim.job.status === 'done' && (waited || (await existing(claim.job, this.#signal)).kind === 'done'))
            return null
          // It ended before, but its output is gone, it failed, or `--force` was given: it runs again.
          await jobs.requeue(claim.job.id)
          break
        case 'unknown':
          throw new Error(`job ${key} was forgotten while it was claimed`)
        default:
          claim satisfies never
      }
    }
  }

  /** Otherwise a person would look at an empty screen. */
  #sayWho({ id, input, holder }: Job): void {
    const who = holder ? `Process ${holder.pid} on ${holder.host}` : 'Another process'
    this.#context.logger.warn({ job: id }, `${who} is working on ${input}. This one waits until that is done.`)
  }

  /** A lost lease and a Ctrl-C both surface as an abort from a deep call. The signal knows the difference. */
  #errorOf(thrown: unknown): VoxmuxError {
    const lease = this.#held?.signal
    const reason = lease?.aborted && !this.#signal.aborted ? lease.reason : thrown
    return toVoxmuxError(reason, this.#request.input)
  }

  /** The outcome of a job that stopped with a fault, once hooks and store know of it. */
  async failed(thrown: unknown): Promise<JobOutcome> {
    // Another process that has taken over the job has removed the files of this attempt, which explains every fault.
    if (!this.#held?.signal.aborted) await this.#held?.beat()
    const error = this.#errorOf(thrown)
    const { id, input } = this.reporter.facts
    this.#context.logger.debug({ job: id, error: error.code, cause: error.cause }, 'job ended')
    await this.#end(error)
    return outcomeOfError({ id, input }, this.#withPayment(error))
  }

  /** An interrupted job says what it paid. The embedded service costs nothing. */
  #withPayment(error: VoxmuxError): VoxmuxError {
    const { paidSec } = this.reporter
    if (!(error instanceof InterruptedError) || paidSec === 0 || this.#context.isEmbedded) return error
    const message = `This run paid for ${formatTime(paidSec)} of voice.`
    return new InterruptedError(message, { cause: error.cause, input: error.input })
  }

  /** Reports the end of the attempt to the hooks and the store. After a lost lease, the new holder does that. */
  async #end(error: VoxmuxError): Promise<void> {
    const held = this.#held
    if (isLeaseLost(held?.signal.reason)) return held?.abandon()
    const status = statusOf(error)
    if (status === 'failed' || status === 'rejected') await this.reporter.failed({ status, error }).catch(() => {})
    if (held === undefined || held.over) return
    try {
      if (error instanceof PendingError) await held.release({ status: 'waiting-remote' })
      else if (status === 'pending') await held.release({ status: 'queued' })
      else await held.fail({ status: status === 'rejected' ? 'rejected' : 'failed', error: errorReport(error) })
    } catch (lost) {
      held.abandon()
      this.#context.logger.debug({ job: held.job.id, cause: lost }, 'could not write the end of the job')
    }
  }

  /** Adds the report and the certificate of an earlier output. It is done, whatever happens to them. */
  async reportLate(): Promise<Pick<FinishedJob, 'receipt'> | undefined> {
    const plan = this.#planned?.filePlan
    const { report: compares, recipe } = this.#request.settings
    if (!plan || (!compares && recipe.qc === null)) return undefined
    const { stateDir, logger } = this.#context
    const { id } = this.reporter.facts
    try {
      const options = { jobId: id, compares, qc: recipe.qc, stateDir, signal: this.#signal }
      return { receipt: (await reportLate(plan.output, plan.media, options)) ?? null }
    } catch (error) {
      if (this.#signal.aborted) throw error
      logger.warn({ job: id }, `The report could not be written: ${toVoxmuxError(error).message}`)
      return undefined
    }
  }
}
