import { isSameState, type QuickIdentity } from '../../core/file-identity.js'
import type { SampleRange } from '../../media/voice-cut.js'
import type { PipelineContext } from '../context.js'
import type { Receipt } from '../output/receipt.js'
import type { JobPlan, PlanRequest } from '../plan/plan-job.js'
import type { SentCuts } from '../plan/plan-tracks.js'

/**
 * The cuts that earlier jobs had regenerated of this state of a file, if the plan joins parts. Joined with another one,
 * a part that is paid for would be paid for again.
 *
 * @param identity state of the input
 */
export async function sentBefore(
  { media, tracks }: JobPlan,
  { settings }: PlanRequest,
  identity: QuickIdentity,
  { jobs, serviceIdentity }: Pick<PipelineContext, 'jobs' | 'serviceIdentity'>,
): Promise<SentCuts> {
  const cuts = new Map<number, SampleRange[]>()
  const isJoined = tracks.some(({ pieces }) => pieces.some(({ ranges }) => ranges.length > 1))
  if (!isJoined) return cuts
  for (const { state } of await jobs.list({ input: media.path, statuses: ['done'] })) {
    const receipt = state.receipt as Receipt | undefined
    if (!receipt || !isSameState(receipt.input, identity)) continue
    const { service, voices } = receipt
    if (service.identity !== serviceIdentity || service.model !== settings.recipe.voice.model) continue
    for (const { audioIndex, startSample, endSample } of voices)
      cuts.set(audioIndex, [...(cuts.get(audioIndex) ?? []), { startSample, endSample }])
  }
  return cuts
}
