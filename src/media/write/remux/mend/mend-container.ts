import { safeInputOptions } from '../../../ffmpeg/input-safety.js'
import type { PcmFormat } from '../../../pcm/pcm.js'
import { loudnessFields, measureBext } from '../../pcm-in-place/bext-loudness.js'
import type { MuxPlan } from '../mux-plan.js'
import { keepAsfIdentity } from './asf-identity.js'
import { keepAviClocks } from './avi-clocks.js'
import { copyWaveChunks } from './copy-wave-chunks.js'
import { writeFreeTags } from './free-tags.js'
import { writeQuickTimeLanguages } from './languages.js'
import { writeTrackMarks } from './track-mark.js'

/** Writes into a finished part file what ffmpeg's muxers leave out of it. @param format of the first new voice */
export async function mendContainer(
  plan: MuxPlan,
  partPath: string,
  format: PcmFormat | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { media, container } = plan
  if (container === 'mov') await writeQuickTimeLanguages(plan, partPath)
  await writeTrackMarks(plan, partPath)
  await writeFreeTags(plan, partPath)
  await keepAviClocks(plan, partPath)
  await keepAsfIdentity(plan, partPath)
  if (container !== 'wav' || media.container !== 'wav') return
  const isMeasured = media.statesLoudness && format !== undefined
  const figures = isMeasured ? await measureBext(partPath, format, safeInputOptions(), signal) : undefined
  await copyWaveChunks(media.path, partPath, figures && loudnessFields(figures))
}
