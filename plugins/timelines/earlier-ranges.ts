import { isSameState, quickIdentity } from '../../src/core/file-identity.js'
import type { SampleRange } from '../../src/media/index.js'
import { likelyReceipt } from '../../src/pipeline/output/existing-output.js'
import type { Receipt } from '../../src/pipeline/output/receipt.js'
import type { JobSettings } from '../../src/pipeline/plan/job-settings.js'
import type { JobPlan } from '../../src/pipeline/plan/plan-job.js'

/** The parts that an earlier cut regenerated in the file that a job would write, and their fate. */
export type EarlierRanges =
  /** The output does not exist, is not ours, or is of another input. Without `--force`, it may also hold other voices. */
  | { readonly kind: 'none' }
  /** Same settings: each part is exactly as it was sent, so its voice is in the cache. */
  | { readonly kind: 'kept'; readonly ranges: readonly SampleRange[] }
  /**
   * Other settings and `--force`: the parts are regenerated again, and paid for again. `lost` names the tracks and
   * channels in which they become the original again.
   */
  | { readonly kind: 'again'; readonly ranges: readonly SampleRange[]; readonly lost: readonly string[] }

/** Reads what an earlier cut regenerated, so that no new cut takes it away. */
export async function earlierRanges(job: JobPlan, settings: JobSettings, sampleRate: number): Promise<EarlierRanges> {
  // Cheap comparisons only: the output is hashed before it is replaced.
  const receipt = await likelyReceipt(job.output)
  const { path } = job.media
  const found = await quickIdentity(path).catch(() => undefined)
  if (receipt?.input.path !== path || !isSameState(receipt.input, found)) return { kind: 'none' }
  const ranges = receipt.segments
    .map(({ startSec, endSec }) => ({
      startSample: Math.round(startSec * sampleRate),
      endSample: Math.round(endSec * sampleRate),
    }))
    .sort((a, b) => a.startSample - b.startSample)
  if (ranges.length === 0) return { kind: 'none' }
  const isSame = receipt.preset === settings.preset && receipt.service.model === settings.recipe.voice.model
  const lost = lostVoices(receipt, job)
  if (isSame && lost.length === 0) {
    const handleSamples = Math.round(settings.recipe.segments.handleSec * sampleRate)
    return { kind: 'kept', ranges: rangesAsSent(ranges, receipt, handleSamples) }
  }
  return settings.force ? { kind: 'again', ranges, lost } : { kind: 'none' }
}

/** Joins the ranges that were sent as one, because their handles met: only together are they in the cache. */
function rangesAsSent(ranges: readonly SampleRange[], { voices }: Receipt, handleSamples: number) {
  const sent: SampleRange[] = []
  for (const { startSample, endSample } of ranges) {
    const last = sent.at(-1)
    const isApart =
      !last ||
      (voices.some((cut) => cut.startSample === Math.max(0, startSample - handleSamples)) &&
        voices.some((cut) => cut.endSample >= last.endSample && cut.endSample <= last.endSample + handleSamples))
    if (isApart) sent.push({ startSample, endSample })
    else sent[sent.length - 1] = { ...last, endSample }
  }
  return sent
}

/** The tracks and channels that were regenerated then and are not regenerated now. */
function lostVoices({ voices }: Receipt, { tracks }: JobPlan): readonly string[] {
  const pieces = tracks.flatMap((track) => track.pieces)
  const lost = voices.filter(
    ({ audioIndex, channel }) =>
      !pieces.some(
        (piece) =>
          piece.audioIndex === audioIndex &&
          (piece.channels.kind === 'one' ? piece.channels.channel : null) === channel,
      ),
  )
  const names = lost.map(({ audioIndex, channel }) =>
    channel === null ? `audio track ${audioIndex}` : `channel ${channel} of audio track ${audioIndex}`,
  )
  return [...new Set(names)]
}
