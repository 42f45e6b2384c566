import { dirname } from 'node:path'
import { refusalError } from '../precheck/index.js'
import type { PipelineContext } from './context.js'
import type { WantedOutput } from './existing-output.js'
import { quickIdentity } from './file-identity.js'
import { recipeHash } from './job-settings.js'
import type { JobTeller } from './job-teller.js'
import { requireWritableFolder } from './part-file.js'
import { type JobPlan, type PlanRequest, planJob } from './plan-job.js'

/** A job that is planned, and what its output must be of. */
export interface PreparedJob {
  readonly request: PlanRequest
  readonly plan: JobPlan
  readonly wanted: WantedOutput
  readonly recipeHash: string
}

/**
 * Plans a job, with its hooks asked first. Reads the input and writes nothing.
 *
 * @throws what `planJob` throws; PrecheckError `ERR_VETOED`
 */
export async function prepareJob(
  request: PlanRequest,
  context: PipelineContext,
  teller: JobTeller,
): Promise<PreparedJob> {
  const { settings } = request
  const { signal } = teller.facts
  await teller.beforePlan()
  const limits = { ...context.limits, requireVoice: settings.recipe.voice.requireVoice }
  const plan = await context.slots.local.run(() => planJob(request, limits, { signal }), signal)
  teller.learn({ output: plan.output })
  const recipe = recipeHash(settings, context.serviceIdentity)
  const inputIdentity = await quickIdentity(plan.media.path)
  const wanted = { input: plan.media.path, inputIdentity, output: plan.output, recipeHash: recipe }
  return {
    request,
    plan,
    wanted: { ...wanted, replace: settings.force, supersede: request.supersede ?? false, signal },
    recipeHash: recipe,
  }
}

/**
 * Makes sure that a planned job may be begun.
 *
 * @throws PrecheckError for what the pre-check or `strict` refuses; UsageError `ERR_OUTPUT_UNWRITABLE`
 */
export async function requireBeginnable({ plan }: PreparedJob): Promise<void> {
  const refused = refusalError(plan.media.path, plan.verdicts.asSent) ?? plan.strictRefusal
  if (refused) throw refused
  await requireWritableFolder(dirname(plan.output))
}
