import { dirname } from 'node:path'
import { type ExitCode, toVoxmuxError, UsageError, VerificationError, VoxmuxError } from '../../core/errors.js'
import { syncFolder } from '../../core/sync-folder.js'
import type { HeldJob, Job } from '../../ledger/index.js'
import type { PipelineContext } from '../context.js'
import { INPUT_GONE_CODES } from '../input-guard.js'
import { type ExistingOutput, wasPublishedBy } from '../output/existing-output.js'
import { requireFreeNames } from '../output/files-beside.js'
import { type Receipt, readReceipt } from '../output/receipt.js'
import { takeOutput } from '../output/take-output.js'
import { clearStale } from '../output/work-folder.js'
import { receiptPath } from '../plan/output-path.js'
import type { JobPlan } from '../plan/plan-job.js'
import type { ObtainOptions } from '../voice/obtain-voices.js'
import type { JobReporter } from './job-reporter.js'
import { type AssembledOutput, publishOutput } from './publish-output.js'
import { openWorkbench, type Workbench } from './workbench.js'

/** One kind of job: a file whose voice is cut here, or an address that the service fetches. */
export interface JobKind {
  /** Decides everything before anything is sent. Reads the input and writes nothing beside it. */
  plan(signal: AbortSignal): Promise<PlannedJob>
  /** Removes what planning fetched. */
  close?(): Promise<void>
}

/** A job whose output is decided, and the steps that make it. */
export interface PlannedJob extends Pick<JobPlan, 'output' | 'outputBytes' | 'workBytes'> {
  /** The input as the ledger and events show it. */
  readonly input: string
  /** Key of the job. Requests with equal keys are one job. */
  readonly key: string
  readonly inputIdentity: Job['inputIdentity']
  readonly recipeHash: string
  /** `--force`: a file with the output's name is replaced. */
  readonly replaces: boolean
  /** The plan for the hooks. Null if the input cannot be read here. */
  readonly filePlan: JobPlan | null
  /** @throws {UsageError} `ERR_OUTPUT_EXISTS` */
  existing(job: Job | null, signal: AbortSignal): Promise<ExistingOutput>
  /** @throws {PrecheckError} for a refusal of the pre-check; {UsageError} `ERR_OUTPUT_UNWRITABLE`, `ERR_CONTAINER_UNFIT` */
  requireStartable(signal: AbortSignal): Promise<void>
  /** Sends what must be sent, and waits for the regenerated audio. */
  obtain(attempt: Attempt): Promise<ObtainedAudio>
}

/** Regenerated audio that lines up with what was sent. */
export interface ObtainedAudio {
  /** Writes the part file and verifies it. */
  assemble(): Promise<AssembledOutput>
}

/** One try at a job: its lease and its workbench. */
export interface Attempt extends Pick<ObtainOptions, 'signal' | 'waitUntilMs' | 'onProgress' | 'onPaid'> {
  readonly job: Job
  readonly bench: Workbench
}

/** The parts of a job's life that differ between front ends. */
interface JobLifeOptions {
  readonly context: PipelineContext
  readonly reporter: JobReporter
  readonly waitUntilMs?: number | undefined
  /** Takes the lease of a planned job. Null if another process finished the job meanwhile. */
  readonly claim: (planned: PlannedJob) => Promise<HeldJob | null>
}

/** Exit codes of a failed job, and of an output that failed verification. */
const FILE_FAULTS: ReadonlySet<ExitCode> = new Set([1, 7])

/** A job that has ended well. */
export interface FinishedJob {
  /** `skipped`: the output existed, published before a crash or recognised by its receipt. */
  readonly status: 'done' | 'skipped'
  readonly output: string
  readonly receipt: Receipt | null
}

/**
 * The life of a job, the same for `run`, `step`, `watch`, `worker`, an address and `--remote`:
 * plan → claim → obtain → assemble → verify → publish → end.
 *
 * @throws {VoxmuxError} of every kind, with the lease still held and nothing left behind. If `held.signal` has fired,
 *   its reason says why.
 */
export async function runJobLife(
  kind: JobKind,
  { context, reporter, claim, waitUntilMs }: JobLifeOptions,
): Promise<FinishedJob> {
  let bench: Workbench | undefined
  try {
    await reporter.beforePlan()
    const planned = await kind.plan(reporter.facts.signal)
    const { output } = planned
    reporter.learn({ output })

    const held = await claim(planned)
    if (held === null) return { status: 'skipped', output, receipt: null }
    const { job, signal, checkpoint } = held
    reporter.learn({ id: job.id, signal })
    // Reported only now: before the claim, the job had no id that the later events share.
    for (const stage of ['probe', 'precheck', 'plan'] as const) reporter.progress(stage, 100)

    // Before the check for an output: another job could publish one between that check and this job's payment.
    await takeOutput(held, output)
    const existing = await planned.existing(job, signal)
    let finished = existing.kind === 'done' ? await adopt(output, existing, job.id, context) : null
    if (finished === null) {
      await planned.requireStartable(signal)
      bench = await openWorkbench(planned, job.id, context)
      if (planned.filePlan) await reporter.afterPlan(planned.filePlan)
      await bench.prepare()
      const obtained = await planned.obtain({
        job,
        bench,
        signal,
        waitUntilMs,
        onProgress: reporter.progress,
        onPaid: reporter.paid,
      })
      await bench.requireSamePlace()
      const made = await obtained.assemble()
      const isOurs = existing.kind === 'replaceable'
      // The service may have taken hours, and a person may have put files there, or edited the output that is replaced.
      if (isOurs) await planned.existing(job, signal)
      if (!planned.replaces) await requireFreeNames(output, namesOf(made.receipt))
      const replace = planned.replaces || isOurs
      finished = await publishOutput(made, output, { bench, replace, checkpoint }).then(
        (receipt) => ({ status: 'done' as const, output, receipt }),
        (error) => adoptTaken(error, planned, held, context),
      )
      await bench.close()
      if (finished.status === 'done') reporter.progress('publish', 100)
    }

    return await end(held, finished, reporter)
  } catch (error) {
    // An output folder that went away explains every fault of the file in it.
    if (!reporter.facts.signal.aborted && FILE_FAULTS.has(toVoxmuxError(error).exitCode))
      await bench?.requireSamePlace()
    if (error instanceof VerificationError) await bench?.keepForInspection()
    throw error
  } finally {
    await bench?.close()
    await kind.close?.()
  }
}

/** Ends a job whose input is gone, if an attempt was killed after it published. Rethrows any other error. */
export async function endPublished(
  error: unknown,
  held: HeldJob,
  { context, reporter }: Pick<JobLifeOptions, 'context' | 'reporter'>,
): Promise<FinishedJob> {
  const { job, signal } = held
  const { output } = job
  if (!(error instanceof VoxmuxError) || !INPUT_GONE_CODES.has(error.code) || output === null) throw error
  if (!(await wasPublishedBy(job, output, signal))) throw error
  reporter.learn({ output })
  return end(held, await adopt(output, { receipt: receiptPath(output) }, job.id, context), reporter)
}

async function end(held: HeldJob, finished: FinishedJob, reporter: JobReporter): Promise<FinishedJob> {
  const receipt = receiptPath(finished.output)
  await reporter.published({ ...finished, receiptPath: receipt })
  const isOwn = finished.status === 'done' || held.job.publishedSha256 !== null
  await held.complete({ status: isOwn ? 'done' : 'skipped', receipt })
  return finished
}

/** The files beside an output that its receipt names. */
function namesOf({ report, credentials }: Receipt) {
  return { report: report !== null, sidecar: credentials?.carrier === 'sidecar' }
}

/** Another attempt at this job took the name, perhaps one that froze between its lease check and the link. */
async function adoptTaken(
  error: unknown,
  planned: PlannedJob,
  { job, signal }: HeldJob,
  context: PipelineContext,
): Promise<FinishedJob> {
  if (!(error instanceof UsageError) || error.code !== 'ERR_OUTPUT_EXISTS') throw error
  const taken = await planned.existing(job, signal)
  if (taken.kind !== 'done') throw error
  return adopt(planned.output, taken, job.id, context)
}

/** Takes an output that an earlier attempt published, and clears the parts that it left if it was killed. */
async function adopt(
  output: string,
  existing: { readonly receipt: string },
  jobId: string,
  context: PipelineContext,
): Promise<FinishedJob> {
  // An attempt that was killed right after naming the files may not have synced the folder.
  await syncFolder(dirname(output))
  await clearStale(output, jobId, context)
  return { status: 'skipped', output, receipt: (await readReceipt(existing.receipt)) ?? null }
}
