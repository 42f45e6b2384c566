import { dirname } from 'node:path'
import { quickIdentity } from '../../core/file-identity.js'
import { recipeHash } from '../plan/job-settings.js'
import { receiptPath } from '../plan/output-path.js'
import type { JobPlan, PlanRequest } from '../plan/plan-job.js'
import { type ExistingOutput, existingOutput } from './existing-output.js'
import { filesBeside, requireFreeNames, requireReplaceableOutput } from './files-beside.js'
import { requireLargeDisk } from './free-space.js'
import { readReceipt } from './receipt.js'
import { checkWritableFolder } from './writable-folder.js'

/** A ledger without jobs. */
const NO_JOBS = { get: async () => null }

/**
 * Requires that a run could publish under the output's name, or would find its job done there. A dry run uses it, which
 * opens no ledger and writes nothing. An output that was published right before a crash and has no receipt yet counts as
 * another file.
 *
 * @throws {UsageError} `ERR_OUTPUT_EXISTS` for another file, or for an output with other settings;
 *   `ERR_OUTPUT_UNWRITABLE`; `ERR_OUTPUT_TOO_LARGE`
 */
export async function requireFreeOutput(
  plan: JobPlan,
  { settings, supersede = false }: PlanRequest,
  signal?: AbortSignal,
): Promise<ExistingOutput> {
  const { media, output } = plan
  const receipt = await readReceipt(receiptPath(output))
  const wanted = {
    ...{ input: media.path, inputIdentity: await quickIdentity(media.path), output, replace: settings.force },
    // No service is opened either. The one that made the output is as good as the next.
    recipeHash: recipeHash(settings, receipt?.service.identity ?? ''),
  }
  const existing = await existingOutput({ ...wanted, supersede, signal }, null, NO_JOBS)
  if (existing.kind === 'done') return existing
  if (!settings.force) await requireFreeNames(output, filesBeside(settings))
  await checkWritableFolder(dirname(output))
  await requireReplaceableOutput(output, filesBeside(settings))
  await requireLargeDisk(plan)
  return existing
}
