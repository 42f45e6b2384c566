import { resolve } from 'node:path'
import { ownReceipt } from '../output/existing-output.js'
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
