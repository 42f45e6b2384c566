import { resolve } from 'node:path'
import type { JobStore } from '../../ledger/index.js'
import { ownReceipt, wasPublishedBy } from '../output/existing-output.js'
import { isWebAddress } from '../plan/expand-inputs.js'
import type { PlanRequest } from '../plan/plan-job.js'
import type { FinishedJob } from './job-life.js'

/** The input itself if it is an output of voxmux, unless `force` asks to regenerate it again. */
export async function ownOutput(
  { input, cwd, settings }: PlanRequest,
  signal: AbortSignal | undefined,
): Promise<FinishedJob | null> {
  if (settings.force || isWebAddress(input)) return null
  const output = resolve(cwd, input)
  return (await ownReceipt(output, signal)) ? { status: 'skipped', output, receipt: null } : null
}

/**
 * The same for an output that has no receipt yet: only the ledger tells what a run published right before it was killed.
 * The receipt is written then. A second `voxmux *.mp4` names such a file beside its source.
 */
export async function unrecordedOutput(
  { input, cwd, settings, group }: PlanRequest,
  jobs: JobStore,
  signal: AbortSignal | undefined,
): Promise<FinishedJob | null> {
  if (settings.force || isWebAddress(input)) return null
  const output = resolve(cwd, input)
  for (const job of await jobs.list({ group, statuses: ['queued', 'working'] }))
    if (job.output === output && (await wasPublishedBy(job, output, signal)))
      return { status: 'skipped', output, receipt: null }
  return null
}
