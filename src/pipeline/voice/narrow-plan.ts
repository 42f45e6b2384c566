import { type Limits, refusalError } from '../../precheck/index.js'
import { type JobPlan, type PlanRequest, planMedia } from '../plan/plan-job.js'
import { withPrice } from '../plan/price.js'
import { needsMaps } from '../plan/ranges-to-send.js'
import { rehearse } from '../plan/rehearse.js'

/**
 * Leaves out what need not be paid for, if the settings ask for that: listens to the tracks and plans again. It takes
 * much longer than the plan, so a job does it only after it is claimed.
 *
 * @throws {PrecheckError} `ERR_UNREADABLE` if a track cannot be decoded
 */
export async function narrowPlan(
  plan: JobPlan,
  request: PlanRequest,
  limits: Limits,
  signal: AbortSignal,
): Promise<JobPlan> {
  if (!needsMaps(request.settings)) return plan
  // Few jobs ask for it, and the voice models take time to load.
  const { mapTrack } = await import('./map-track.js')
  const maps = new Map()
  for (const { stream } of plan.tracks) maps.set(stream.audioIndex, await mapTrack(plan.media, stream, signal))
  return planMedia(plan.media, request, limits, { signal, maps })
}

/** Why a plan is refused before anything is sent; undefined if it is not. */
export function planRefusal({ media, verdicts, strictRefusal }: JobPlan) {
  return refusalError(media.path, verdicts.asSent) ?? strictRefusal
}

/**
 * A plan as it is shown: narrowed, and with its price. A refused one stays as it is, because a job refuses it before it
 * listens, and its sound may not be readable.
 *
 * @throws what {@link rehearse}, {@link narrowPlan} and {@link withPrice} throw
 */
export async function pricedPlan(
  plan: JobPlan,
  request: PlanRequest,
  limits: Limits,
  signal: AbortSignal,
): Promise<JobPlan> {
  if (planRefusal(plan)) return plan
  await rehearse(plan, signal)
  return withPrice(await narrowPlan(plan, request, limits, signal), signal)
}
