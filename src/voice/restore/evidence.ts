import type { EvidenceSettings } from './evidence-settings.js'
import { slidingMax, slidingMean } from './sliding.js'
import { smoothStep } from './smooth-step.js'

/** Powers of one channel, frame by frame (mean squares, full scale 1). */
export interface Evidence {
  readonly kept: Float64Array
  readonly removed: Float64Array
}

/** No power in any frame. */
export function emptyEvidence(frames: number): Evidence {
  return { kept: new Float64Array(frames), removed: new Float64Array(frames) }
}

/** Noise is judged against the voice of so long to both sides: a pause does not make a quiet room loud. */
const VOICE_REACH_SEC = 2
/** Noise counts from so long before it to so long after it, so that its onset is regenerated at once. */
const NOISE_REACH_SEC = 0.5
const NOISE_HOLD_SEC = 0.25
/** Strength is held for so long to both sides: it does not follow every syllable. */
const STRENGTH_HOLD_SEC = 1
const STRENGTH_FADE_SEC = 0.2
/** How far the strength at a place looks to both sides. */
export const EVIDENCE_REACH_SEC = VOICE_REACH_SEC + STRENGTH_HOLD_SEC + STRENGTH_FADE_SEC

/** Sound removed at −110 dBFS or less is silence or dither, and not evidence. */
const SILENCE_POWER = 1e-11
const SILENCE_RATIO = 1e4

/**
 * Strength of the regeneration, frame by frame: 0 (leave alone) … 1. It compares the sound that the models would
 * remove with the sound that they would keep. Pauses and percentiles of loudness have no influence.
 *
 * @param hopSec time between frames
 */
export function strengthOf({ kept, removed }: Evidence, hopSec: number, settings: EvidenceSettings): Float64Array {
  const frames = (seconds: number) => Math.round(seconds / hopSec)
  const voice = slidingMean(kept, frames(VOICE_REACH_SEC))
  const noise = slidingMax(slidingMean(removed, frames(NOISE_REACH_SEC)), frames(NOISE_HOLD_SEC))
  const { cleanDb, noisyDb } = settings
  const asked = noise.map((power, i) => {
    const ratio = (power + SILENCE_POWER) / ((voice[i] ?? 0) + SILENCE_POWER * SILENCE_RATIO)
    return smoothStep(10 * Math.log10(ratio), cleanDb, noisyDb)
  })
  return slidingMean(slidingMax(asked, frames(STRENGTH_HOLD_SEC)), frames(STRENGTH_FADE_SEC)).map(exact)
}

/** The running sums leave a crumb if all is 0, and 0 has to mean: not touched. */
function exact(strength: number): number {
  return strength < 1e-9 ? 0 : Math.min(1, strength)
}
