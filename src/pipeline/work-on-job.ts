import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError, VerificationError } from '../core/errors.js'
import { syncFolder } from '../core/sync-folder.js'
import type { HeldJob, Job } from '../jobs/index.js'
import { clearStale } from './clear-stale.js'
import type { PipelineContext } from './context.js'
import { existingOutput } from './existing-output.js'
import type { JobTeller } from './job-teller.js'
import { diskOf } from './output-disk.js'
import { receiptPath } from './output-path.js'
import { partPath, receiptPartPath, reportPartPath, requireFreeSpace } from './part-file.js'
import { type PreparedJob, requireBeginnable } from './prepare-job.js'
import { produce } from './produce.js'
import { type Receipt, readReceipt } from './receipt.js'
import { keepForInspection, makeWorkFolder } from './work-folder.js'

/** A job that has ended well. */
export interface FinishedJob {
  /** `skipped`: the output stood there already, published before a crash or known by its receipt. */
  readonly status: 'done' | 'skipped'
  readonly output: string
  readonly receipt: Receipt | null
}

/**
 * Takes a job in hand to its good end: the output published (or found, where an earlier attempt came so far), the
 * hooks told, the ledger's entry completed. Any fault is thrown, with the job still in hand and nothing left behind.
 *
 * @param waitUntilMs see `JobRunOptions`
 * @throws {VoxmuxError} of every kind; where `held.signal` has fired, its reason tells why
 */
export async function workOnJob(
  held: HeldJob,
  prepared: PreparedJob,
  context: PipelineContext,
  teller: JobTeller,
  waitUntilMs?: number,
): Promise<FinishedJob> {
  const { output } = prepared.plan
  const claimed = held.job
  const existing = await existingOutput(prepared.wanted, claimed, context.jobs)
  const replace = prepared.request.settings.force || existing.kind === 'older'
  const finished =
    existing.kind === 'done'
      ? await found(output, existing)
      : await make(held, prepared, replace, context, teller, waitUntilMs).then(
          (receipt) => ({ status: 'done' as const, output, receipt }),
          (error) => foundAfterAll(error, prepared, claimed, context),
        )
  await teller.published({ ...finished, receiptPath: receiptPath(output) })
  await held.complete({ status: isOwn(held, finished) ? 'done' : 'skipped', receipt: receiptPath(output) })
  return finished
}

async function found(output: string, { receipt }: { readonly receipt: string }): Promise<FinishedJob> {
  // An attempt that was killed right after it gave the names may not have brought them to the disk.
  await syncFolder(dirname(output))
  return { status: 'skipped', output, receipt: (await readReceipt(receipt)) ?? null }
}

/**
 * Where the name was given to another file while this one was made: by whoever had the job before and was frozen
 * between the check of its lease and the link, perhaps. What that one would publish was in the ledger when this job was
 * claimed, so that it is known, and ours is thrown away.
 *
 * @throws the error itself where that file is none of ours
 */
async function foundAfterAll(
  error: unknown,
  { plan, wanted }: PreparedJob,
  claimed: Job,
  { jobs }: PipelineContext,
): Promise<FinishedJob> {
  if (!(error instanceof UsageError) || error.code !== 'ERR_OUTPUT_EXISTS') throw error
  const existing = await existingOutput(wanted, claimed, jobs)
  if (existing.kind !== 'done') throw error
  return found(plan.output, existing)
}

/** Published now, or by an attempt of this very job that ended before it could say so. */
function isOwn({ job }: HeldJob, { status }: FinishedJob): boolean {
  return status === 'done' || job.publishedSha256 !== null
}

async function make(
  held: HeldJob,
  prepared: PreparedJob,
  replace: boolean,
  context: PipelineContext,
  teller: JobTeller,
  waitUntilMs: number | undefined,
): Promise<Receipt> {
  const { plan, request, recipeHash } = prepared
  const { stateDir } = context
  const { job, signal } = held
  await requireBeginnable(prepared)
  // Before the hooks: one that finds the folder where it belongs has found this disk.
  const outputDisk = await diskOf(dirname(plan.output))
  await teller.afterPlan(plan)
  const part = partPath(plan.output, job.id)
  let workFolder: string | undefined
  try {
    await clearStale(plan.output, job.id, context)
    workFolder = await makeWorkFolder(stateDir, job.id)
    await requireFreeSpace(
      new Map([
        [dirname(plan.output), plan.outputBytes],
        [workFolder, plan.workBytes],
      ]),
    )
    const order = { plan, settings: request.settings, job, part, outputDisk, workFolder, recipeHash, replace }
    return await produce(order, context, {
      ...{ signal, waitUntilMs, tell: teller.progress },
      checkpoint: held.checkpoint,
    })
  } catch (error) {
    if (workFolder && error instanceof VerificationError) await keepForInspection(stateDir, job.id, workFolder)
    throw error
  } finally {
    await rm(part, { force: true })
    await rm(receiptPartPath(plan.output, job.id), { force: true })
    await rm(reportPartPath(plan.output, job.id), { force: true })
    if (workFolder) await rm(workFolder, { recursive: true, force: true })
  }
}
