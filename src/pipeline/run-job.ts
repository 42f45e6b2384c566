import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorReport, toVoxmuxError, VerificationError, type VoxmuxError } from '../core/errors.js'
import { sleep } from '../core/time.js'
import { type ClaimedJob, DEFAULT_LEASE_MS, isEnded, type Job, keepLease } from '../jobs/index.js'
import { refusalError } from '../precheck/index.js'
import type { JobRunOptions, PipelineContext, StageProgress } from './context.js'
import type { FileEvent } from './events.js'
import { existingOutput, type WantedOutput } from './existing-output.js'
import { quickIdentity, valueSha256 } from './file-identity.js'
import { type JobOutcome, outcomeOfError, statusOf } from './job-outcome.js'
import { recipeHash } from './job-settings.js'
import { receiptPath } from './output-path.js'
import {
  clearStaleParts,
  partPath,
  receiptPartPath,
  reportPartPath,
  requireFreeSpace,
  requireWritableFolder,
} from './part-file.js'
import { type JobPlan, type PlanRequest, planJob } from './plan-job.js'
import { produce } from './produce.js'
import type { Receipt } from './receipt.js'
import { clearStaleWork, keepForInspection, makeWorkFolder } from './work-folder.js'

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
  readonly #options: JobRunOptions
  #id: string

  constructor(request: PlanRequest, context: PipelineContext, options: JobRunOptions) {
    this.#request = request
    this.#context = context
    this.#options = options
    this.#id = request.provisionalId
  }

  async toTheEnd(): Promise<JobOutcome> {
    try {
      return await this.#run()
    } catch (thrown) {
      const error = toVoxmuxError(thrown, this.#request.input)
      this.#context.logger.debug({ job: this.#id, error: error.code, cause: error.cause }, 'job ended')
      return outcomeOfError({ id: this.#id, input: this.#request.input }, error)
    }
  }

  async #run(): Promise<JobOutcome> {
    const { settings } = this.#request
    const plan = await planJob(this.#request, this.#context.limits, { signal: this.#options.signal })
    const refused = refusalError(plan.media.path, plan.verdicts.asSent) ?? plan.strictRefusal
    const identity = await quickIdentity(plan.media.path)
    const recipe = recipeHash(settings, this.#context.serviceIdentity)
    const key = valueSha256({ input: plan.media.path, output: plan.output, ...identity, recipe })
    const wanted = {
      input: plan.media.path,
      inputIdentity: identity,
      output: plan.output,
      recipeHash: recipe,
      replace: settings.force,
      signal: this.#options.signal,
    }
    const existing = await existingOutput(wanted, await this.#context.jobs.getByKey(key))
    if (existing.kind === 'done') {
      const known = await this.#context.jobs.getByKey(key)
      if (known) this.#id = known.id
      return this.#published('skipped', plan.output, null)
    }
    if (refused) throw refused
    await requireWritableFolder(dirname(plan.output))
    const { job } = await this.#context.jobs.enqueue({
      key,
      group: this.#request.group,
      input: plan.media.path,
      inputIdentity: { ...identity, sha256: null },
      output: plan.output,
      recipeHash: recipe,
      preset: settings.preset,
    })
    this.#id = job.id
    // Told only now: before, the job had no id that the later events would share.
    const tell = this.#progress()
    for (const stage of ['probe', 'precheck', 'plan'] as const) tell(stage, 100)
    const claimed = await this.#claim(key, wanted)
    if (!claimed) return this.#published('skipped', plan.output, null)
    return this.#work(claimed, plan, recipe, tell)
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
          waited = true
          await sleep(HELD_POLL_MS, this.#options.signal)
          break
        case 'ended':
          // Done by another while this one waited, or in the moment between looking and asking.
          if (claim.job.status === 'done' && (waited || (await existingOutput(wanted, claim.job)).kind === 'done')) {
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

  async #work(claimed: ClaimedJob, plan: JobPlan, recipe: string, tell: StageProgress): Promise<JobOutcome> {
    const { jobs, stateDir } = this.#context
    const { job, lease } = claimed
    const keeper = keepLease(() => jobs.heartbeat(lease), DEFAULT_LEASE_MS, this.#options.signal)
    const part = partPath(plan.output, job.id)
    let workFolder: string | undefined
    try {
      await this.#clearStale(plan)
      workFolder = await makeWorkFolder(stateDir, job.id)
      await requireFreeSpace(
        new Map([
          [dirname(plan.output), plan.outputBytes],
          [workFolder, plan.workBytes],
        ]),
      )
      const receipt = await produce(
        { plan, settings: this.#request.settings, job, part, workFolder, recipeHash: recipe },
        this.#context,
        { signal: keeper.signal, tell, checkpoint: (made) => jobs.checkpoint(lease, made) },
      )
      await jobs.complete(lease, { status: 'done', receipt: receiptPath(plan.output) })
      return this.#published('done', plan.output, receipt)
    } catch (thrown) {
      const error = toVoxmuxError(reasonOf(thrown, keeper.signal, this.#options.signal), plan.media.path)
      if (workFolder && error instanceof VerificationError) await keepForInspection(stateDir, job.id, workFolder)
      await this.#putDown(claimed, error)
      throw error
    } finally {
      keeper.stop()
      await rm(part, { force: true })
      await rm(receiptPartPath(plan.output, job.id), { force: true })
      await rm(reportPartPath(plan.output, job.id), { force: true })
      if (workFolder) await rm(workFolder, { recursive: true, force: true })
    }
  }

  /** Says in the store how the attempt ended. A lease that was lost meanwhile is another's to speak for. */
  async #putDown({ lease }: ClaimedJob, error: VoxmuxError): Promise<void> {
    const { jobs } = this.#context
    const status = statusOf(error)
    try {
      if (status === 'pending') await jobs.release(lease, { status: 'queued' })
      else await jobs.fail(lease, { status: status === 'rejected' ? 'rejected' : 'failed', error: errorReport(error) })
    } catch (lost) {
      this.#context.logger.debug({ job: this.#id, cause: lost }, 'could not put the job down')
    }
  }

  async #clearStale(plan: JobPlan): Promise<void> {
    const isLive = async (jobId: string) => {
      const found = await this.#context.jobs.get(jobId)
      return found === null ? undefined : isWorkedOn(found)
    }
    const others = async (jobId: string) => (jobId === this.#id ? false : isLive(jobId))
    await clearStaleParts(dirname(plan.output), others)
    await clearStaleWork(this.#context.stateDir, others)
  }

  #progress(): StageProgress {
    const { onEvent } = this.#options
    const highest = new Map<string, number>()
    return (stage, percent) => {
      const rounded = Math.min(100, Math.max(highest.get(stage) ?? 0, Math.floor(percent)))
      if (highest.get(stage) === rounded) return
      highest.set(stage, rounded)
      onEvent?.({ event: 'progress', id: this.#id, input: this.#request.input, stage, percent: rounded })
    }
  }

  #published(status: 'done' | 'skipped', output: string, receipt: Receipt | null): JobOutcome {
    const { input } = this.#request
    const event: FileEvent = {
      event: 'file',
      id: this.#id,
      input,
      status,
      output,
      receipt: receiptPath(output),
      error: null,
    }
    return { event, error: null, receipt }
  }
}

function isWorkedOn(job: Job): boolean {
  return !isEnded(job.status) && job.holder !== null
}

/** A lost lease and a Ctrl-C both surface as an abort somewhere deep: the signal knows which it was. */
function reasonOf(thrown: unknown, kept: AbortSignal, given: AbortSignal | undefined): unknown {
  return kept.aborted && !given?.aborted ? kept.reason : thrown
}
