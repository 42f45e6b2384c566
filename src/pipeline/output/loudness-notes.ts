import type { Recipe } from '../../config/preset-schema.js'
import type { TrackRecord } from './receipt.js'

/** Tolerance of EBU R128 for a level that is not met exactly, in LU. */
const TOLERANCE_LU = 0.5

/** Names each track that the limit of true peaks kept below its loudness target. */
export function loudnessNotes(
  tracks: readonly Pick<TrackRecord, 'audioIndex' | 'loudness'>[],
  target: Recipe['loudness'],
): string[] {
  if (target === null) return []
  const { targetLufs, truePeakDbtp } = target
  return tracks.flatMap(({ audioIndex, loudness: { after } }) => {
    if (after.integratedLufs === null || after.integratedLufs >= targetLufs - TOLERANCE_LU) return []
    return [
      `Audio track ${audioIndex} has ${after.integratedLufs.toFixed(1)} LUFS instead of ${targetLufs} LUFS, because more would lift its true peaks over ${truePeakDbtp} dBTP. Lower "loudness.targetLufs", or raise "loudness.truePeakDbtp".`,
    ]
  })
}
