import { errorReport, PendingError, toVoxmuxError, type VoxmuxError } from '../core/errors.js'
import { sleep } from '../core/time.js'
import { type ClaimedJob, type HeldJob, holdJob, isEnded } from '../jobs/index.js'
import type { JobRunOptions, PipelineContext } from './context.js'
import { existingOutput, type WantedOutput } from './existing-output.js'
import { valueSha256 } from './file-identity.js'
import { type JobOutcome, outcomeOfError, outcomeOfFinished, statusOf } from './job-outcome.js'
import { JobTeller } from './job-teller.js'
import type { JobPlan, PlanRequest } from './plan-job.js'
import { type PreparedJob, prepareJob, requireBeginnable } from './prepare-job.js'
import { reportLate } from './report/late-report.js'
import { stillRunning } from './wait-for-voice.js'
import { workOnJob } from './work-on-job.js'

/** How often a job that another process works on is looked at. */
const HELD_POLL_MS = 500

/**
 * Runs one job, file to file: `file → MediaInfo → plan → cuts → regenerated voices → aligned → spliced → muxed →
 * verified → published + receipt`. Never throws for a fault of the job: its end is in the outcome.
 *
 * The same job again is skipped when it is done and unchanged, waited for when another process works on it, and
 * attached to when an earlier run was killed.
 */
export async function runJob(
  request: PlanRequest,
  context: PipelineContext,
  options: JobRunOptions = {},
): Promise<JobOutcome> {
  const run = new JobRun(request, context, options)
  const outcome = await run.toTheEnd()
  options.onEvent?.(outcome.event)
  return outcome
}

class JobRun {
  readonly #request: PlanRequest
  readonly #context: PipelineContext
  readonly #signal: AbortSignal
  readonly #waitUntilMs: number | undefined
  readonly #teller: JobTeller

  constructor(request: PlanRequest, context: PipelineContext, options: JobRunOptions) {
    this.#request = request
    this.#context = context
    this.#signal = options.signal ?? new AbortController().signal
    this.#waitUntilMs = options.waitUntilMs
    const { provisionalId: id, group, input, settings } = request
    this.#teller = new JobTeller({
      facts: { id, group, preset: settings.preset, input, output: null, data: {}, signal: this.#signal },
      hooks: [...(context.hooks ?? []), ...(options.hooks ?? [])],
      onEvent: options.onEvent,
      logger: context.logger,
    })
  }

  async toTheEnd(): Promise<JobOutcome> {
    try {
      return await this.#run()
    } catch (thrown) {
      const error = toVoxmuxError(thrown, this.#request.input)
      const { id, input } = this.#teller.facts
      this.#context.logger.debug({ job: id, error: error.code, cause: error.cause }, 'job ended')
      await this.#tellFailed(error).catch(() => {})
      return outcomeOfError({ id, input }, error)
    }
  }

  async #run(): Promise<JobOutcome> {
    const { jobs } = this.#context
    const { group, settings } = this.#request
    const prepared = await prepareJob(this.#request, this.#context, this.#teller)
    const { plan, wanted, recipeHash } = prepared
    const { input, output, inputIdentity } = wanted
    const { sharedPath = (path: string) => path } = this.#context
    const place = { input: sharedPath(input), output: sharedPath(output) }
    const key = valueSha256({ ...place, ...inputIdentity, recipe: recipeHash })
    const known = await jobs.getByKey(key)
    const existing = await existingOutput(wanted, known, jobs)
    // One that was published by a process which died before it could say so is claimed, and ended as it should be.
    if (existing.kind === 'done' && (known === null || isEnded(known.status))) {
      if (known) this.#teller.learn({ id: known.id })
      return this.#skipped(prepared)
    }
    if (existing.kind !== 'done') await requireBeginnable(prepared)
    const { job } = await jobs.enqueue({
      ...{ key, group, input, output, recipeHash, preset: settings.preset },
      inputIdentity: { ...inputIdentity, sha256: null },
    })
    this.#teller.learn({ id: job.id, output: plan.output })
    // Told only now: before, the job had no id that the later events would share.
    for (const stage of ['probe', 'precheck', 'plan'] as const) this.#teller.progress(stage, 100)
    const claimed = await this.#claim(key, wanted)
    return claimed ? this.#work(claimed, prepared) : this.#skipped(prepared)
  }

  /** The job to work on; null where another process finished it while this one waited. */
  async #claim(key: string, wanted: WantedOutput): Promise<ClaimedJob | null> {
    const { jobs } = this.#context
    let waited = false
    for (;;) {
      const claim = await jobs.claim(key)
      switch (claim.outcome) {
        case 'claimed':
          return claim
        case 'held':
          this.#leaveWhereLate()
          waited = true
          await sleep(HELD_POLL_MS, this.#signal)
          break
        case 'ended':
          // Done by another while this one waited, or in the moment between looking and asking.
          if (
            claim.job.status === 'done' &&
            (waited || (await existingOutput(wanted, claim.job, jobs)).kind === 'done')
          ) {
            return null
          }
          // Ended before, but its output is gone, it failed, or `--force` was said: once more.
          await jobs.requeue(claim.job.id)
          break
        case 'unknown':
          throw new Error(`job ${key} was forgotten while it was claimed`)
        default:
          claim satisfies never
      }
    }
  }

  #leaveWhereLate(): void {
    if (this.#waitUntilMs !== undefined && Date.now() >= this.#waitUntilMs) {
      throw stillRunning('another process works on it')
    }
  }

  async #work(claimed: ClaimedJob, prepared: PreparedJob): Promise<JobOutcome> {
    const held = holdJob(this.#context.jobs, claimed, { signal: this.#signal })
    this.#teller.learn({ signal: held.signal })
    try {
      const own = { ...prepared, wanted: { ...prepared.wanted, signal: held.signal } }
      const finished = await workOnJob(held, own, this.#context, this.#teller, this.#waitUntilMs)
      return outcomeOfFinished(this.#teller.facts, finished)
    } catch (thrown) {
      const error = toVoxmuxError(reasonOf(thrown, held.signal, this.#signal), prepared.plan.media.path)
      await this.#tellFailed(error).catch(() => {})
      await this.#putDown(held, error)
      throw error
    }
  }

  /** Says in the store how the attempt ended. A lease that was lost meanwhile is another's to speak for. */
  async #putDown(held: HeldJob, error: VoxmuxError): Promise<void> {
    const status = statusOf(error)
    try {
      if (error instanceof PendingError) await held.release({ status: 'waiting-remote' })
      else if (status === 'pending') await held.release({ status: 'queued' })
      else await held.fail({ status: status === 'rejected' ? 'rejected' : 'failed', error: errorReport(error) })
    } catch (lost) {
      held.forsake()
      this.#context.logger.debug({ job: held.job.id, cause: lost }, 'could not put the job down')
    }
  }

  async #tellFailed(error: VoxmuxError): Promise<void> {
    const status = statusOf(error)
    if (status === 'failed' || status === 'rejected') await this.#teller.failed({ status, error })
  }

  async #skipped({ plan }: PreparedJob): Promise<JobOutcome> {
    if (this.#request.settings.report) await this.#reportLate(plan)
    return outcomeOfFinished(this.#teller.facts, { status: 'skipped', output: plan.output, receipt: null })
  }

  /** The output is done and stays so, whatever comes of its page. */
  async #reportLate({ output, media }: JobPlan): Promise<void> {
    const { stateDir, logger } = this.#context
    const { id } = this.#teller.facts
    try {
      await reportLate(output, media, { jobId: id, stateDir, signal: this.#signal })
    } catch (error) {
      if (this.#signal.aborted) throw error
      logger.warn({ job: id }, `The report could not be made: ${toVoxmuxError(error).message}`)
    }
  }
}

/** A lost lease and a Ctrl-C both surface as an abort somewhere deep: the signal knows which it was. */
function reasonOf(thrown: unknown, kept: AbortSignal, given: AbortSignal): unknown {
  return kept.aborted && !given.aborted ? kept.reason : thrown
}
