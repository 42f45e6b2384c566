import { dirname } from 'node:path'
import { isPresetPath } from '../../src/config/load-preset.js'
import { UsageError } from '../../src/core/errors.js'
import { quickIdentity } from '../../src/core/file-identity.js'
import { sortableId } from '../../src/ledger/index.js'
import { limitsOf } from '../../src/pipeline/job/kinds/file-job.js'
import { requireFreeOutput } from '../../src/pipeline/output/require-free-output.js'
import { type JobSettings, settingsOfConfig } from '../../src/pipeline/plan/job-settings.js'
import { namesFolder, receiptPath } from '../../src/pipeline/plan/output-path.js'
import { type JobPlan, planJob } from '../../src/pipeline/plan/plan-job.js'
import { flagsOfRequest, type JobRequestFile } from '../../src/pipeline/queue/job-request.js'
import type { QueuedFile } from '../../src/pipeline/queue/queued-file.js'
import { planRefusal, pricedPlan } from '../../src/pipeline/voice/narrow-plan.js'
import { isWebAddress } from '../../src/pipeline/web-address.js'
import type { Desk } from './desk.js'
import type { Roots } from './roots.js'

/** A job that could run now. */
export interface PreparedJob {
  readonly file: QueuedFile
  readonly plan: JobPlan
  /** All that the token of its plan binds: file, options, service and cost. Plain JSON. */
  readonly shown: object
}

/**
 * Finds the paths of a job, and plans it as `voxmux run --dry-run` does. Sends and writes nothing.
 *
 * @throws {VoxmuxError} all that a run would refuse before it sends anything; `ERR_OUTSIDE_ROOTS`
 */
export async function prepareJob(
  job: JobRequestFile,
  { context, group, configOf }: Desk,
  roots: Roots,
  signal: AbortSignal,
): Promise<PreparedJob> {
  const input = await requireLocal(job.input, roots)
  const output = job.output === undefined ? `${dirname(input)}/` : await outputWish(job.output, roots)
  const settings = await settingsOf(job, configOf, roots)
  const request = { provisionalId: sortableId(), input, output, cwd: '/', group, settings, remote: false }
  const limits = limitsOf(request, context)
  const plan = await pricedPlan(await planJob(request, limits, { signal }), request, limits, signal)
  for (const path of [plan.output, receiptPath(plan.output)]) await roots.require(path)
  const refusal = planRefusal(plan)
  if (refusal) throw refusal
  await requireFreeOutput(plan, request, signal)
  const identity = await quickIdentity(input)
  return {
    file: { input, output, settings, group, data: { planned: identity } },
    plan,
    shown: {
      ...{ input, identity, output: plan.output, settings, service: context.serviceIdentity },
      paidSec: plan.paidSec,
    },
  }
}

/**
 * The real path of an input.
 *
 * @throws {UsageError} `ERR_MCP_ADDRESS`, `ERR_OUTSIDE_ROOTS`
 */
export function requireLocal(input: string, roots: Roots): Promise<string> {
  if (!isWebAddress(input)) return roots.require(input)
  throw new UsageError('ERR_MCP_ADDRESS', 'The tools take files of this computer, not web addresses.', {
    remedies: ['Download the file into an open folder, or use `voxmux run` with the address.'],
  })
}

/** The settings of a job: its own, on top of the configuration. */
export async function settingsOf(
  job: Omit<JobRequestFile, 'input'>,
  configOf: Desk['configOf'],
  roots: Roots,
): Promise<JobSettings> {
  const { preset, segments = [], force = false } = job
  const isFile = preset !== undefined && isPresetPath(preset)
  const own = isFile ? { ...job, preset: await roots.require(preset) } : job
  const config = await configOf(flagsOfRequest({ input: '', ...own }))
  return settingsOfConfig(config, { segments, force, previewSec: null })
}

async function outputWish(output: string, roots: Roots): Promise<string> {
  const place = await roots.require(output)
  return /[\\/]$/.test(output) || (await namesFolder(place, '/')) ? `${place}/` : place
}
