import { emptyEvidence, strengthOf } from '../restore/evidence.js'
import type { EvidenceSettings } from '../restore/evidence-settings.js'
import { framesOf, HOP_SAMPLES, HOP_SEC } from '../restore/spectral-change.js'

/**
 * Reverberation in dB relative to the voice that makes a recording worth sending to a service. A microphone at 15 cm in a
 * room of 0.4 s stays below the first figure. One at a metre in a room of 0.3 s exceeds the second.
 */
const ROOM_SETTINGS: EvidenceSettings = { cleanDb: -12, noisyDb: -9 }

/** How far reverberation makes sound noisy: 0 … 1 by frame. @param sound 48 kHz @param change that removes it */
export function roomStrength(sound: Float32Array, change: Float32Array): Float64Array {
  const frames = framesOf(sound.length)
  const evidence = emptyEvidence(frames)
  for (let i = 0; i < sound.length; i++) {
    const frame = Math.round(i / HOP_SAMPLES)
    const [own, removed] = [sound[i] ?? 0, change[i] ?? 0]
    evidence.kept[frame] = (evidence.kept[frame] ?? 0) + (own * own) / HOP_SAMPLES
    evidence.removed[frame] = (evidence.removed[frame] ?? 0) + (removed * removed) / HOP_SAMPLES
  }
  return strengthOf(evidence, HOP_SEC, ROOM_SETTINGS)
}
