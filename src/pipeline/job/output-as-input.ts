import { resolve } from 'node:path'
import type { JobStore } from '../../ledger/index.js'
import { ownReceipt, wasPublishedBy } from '../output/existing-output.js'
import type { PlanRequest } from '../plan/plan-job.js'
import { isWebAddress } from '../web-address.js'
import type { FinishedJob } from './job-life.js'

/** The input itself if it is an output of voxmux, unless `force` asks to regenerate it again. */
export async function outputAsInput(
  { input, cwd, settings }: PlanRequest,
  jobs: JobStore,
  signal: AbortSignal | undefined,
): Promise<FinishedJob | null> {
  if (settings.force || isWebAddress(input)) return null
  const output = resolve(cwd, input)
  const isOwn = (await ownReceipt(output, signal)) || (await isUnrecorded(output, jobs, signal))
  return isOwn ? { status: 'skipped', output, receipt: null } : null
}

/**
 * True if a run published this file and was killed before it wrote the receipt. The receipt is written now. A second
 * `voxmux *.mp4` names such a file beside its source.
 */
async function isUnrecorded(output: string, jobs: JobStore, signal: AbortSignal | undefined): Promise<boolean> {
  for (const job of await jobs.list({ published: output })) if (await wasPublishedBy(job, output, signal)) return true
  return false
}
