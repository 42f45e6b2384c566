import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { VerificationError } from '../core/errors.js'
import { type HeldJob, isEnded } from '../jobs/index.js'
import type { PipelineContext } from './context.js'
import { existingOutput } from './existing-output.js'
import type { JobTeller } from './job-teller.js'
import { receiptPath } from './output-path.js'
import { clearStaleParts, partPath, receiptPartPath, reportPartPath, requireFreeSpace } from './part-file.js'
import { type PreparedJob, requireBeginnable } from './prepare-job.js'
import { produce } from './produce.js'
import { type Receipt, readReceipt } from './receipt.js'
import { clearStaleWork, keepForInspection, makeWorkFolder } from './work-folder.js'

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
 * @throws {VoxmuxError} of every kind; where `held.signal` has fired, its reason tells why
 */
export async function workOnJob(
  held: HeldJob,
  prepared: PreparedJob,
  context: PipelineContext,
  teller: JobTeller,
): Promise<FinishedJob> {
  const { output } = prepared.plan
  const existing = await existingOutput(prepared.wanted, held.job)
  const replace = prepared.request.settings.force || existing.kind === 'older'
  const finished =
    existing.kind === 'done'
      ? { status: 'skipped' as const, output, receipt: (await readReceipt(existing.receipt)) ?? null }
      : { status: 'done' as const, output, receipt: await make(held, prepared, replace, context, teller) }
  await teller.published({ ...finished, receiptPath: receiptPath(output) })
  await held.complete({ status: isOwn(held, finished) ? 'done' : 'skipped', receipt: receiptPath(output) })
  return finished
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
): Promise<Receipt> {
  const { plan, request, recipeHash } = prepared
  const { stateDir } = context
  const { job, signal } = held
  await requireBeginnable(prepared)
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
    const order = { plan, settings: request.settings, job, part, workFolder, recipeHash, replace }
    return await produce(order, context, { signal, tell: teller.progress, checkpoint: held.checkpoint })
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

/** Removes what killed processes left where this job is going to work. */
async function clearStale(output: string, ownId: string, { jobs, stateDir }: PipelineContext): Promise<void> {
  const isLive = async (jobId: string) => {
    if (jobId === ownId) return false
    const found = await jobs.get(jobId)
    return found === null ? undefined : !isEnded(found.status) && found.holder !== null
  }
  await clearStaleParts(dirname(output), isLive)
  await clearStaleWork(stateDir, isLive)
}
