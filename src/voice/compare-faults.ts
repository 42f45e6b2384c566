import { SAMPLE_RATE } from './block-plan.js'
import { findClipping } from './restore/clipping.js'
import { findHum } from './restore/hum.js'

/** Faults of a sound, and how much of each is left after regeneration. */
export interface FaultFigures {
  /** The hum of the mains: its fundamental, its level in dBFS, and by how many dB it fell. Null if there was none. */
  readonly hum: { readonly frequencyHz: number; readonly levelDb: number; readonly fallDb: number } | null
  /** The share of the samples in flat peaks, before and after: 0 to 1. Null if there was none. */
  readonly clipping: { readonly share: number; readonly shareLeft: number } | null
}

/** A hum that is less than this part of what it was cannot be told from the voice over it. */
const LEAST_REST = 10 ** (-60 / 20)

/**
 * Finds hum and clipping in a channel, and measures how much of both is left in the regenerated one. Both are of one
 * length and in place, full scale 1.
 */
export function compareFaults(before: Float32Array, after: Float32Array, sampleRate: number): FaultFigures {
  const found = findHum(atVoiceRate(before, sampleRate))
  const clipping = findClipping(before)
  return {
    hum: found
      ? {
          frequencyHz: found.frequencyHz,
          levelDb: 10 * Math.log10(found.power),
          fallDb: -20 * Math.log10(Math.max(LEAST_REST, shareOf(found.samples, atVoiceRate(after, sampleRate)))),
        }
      : null,
    clipping: clipping ? { share: clipping.share, shareLeft: findClipping(after)?.share ?? 0 } : null,
  }
}

/** How much of a known sound is in another one, as a factor of its amplitude. */
function shareOf(known: Float32Array, sound: Float32Array): number {
  let [cross, power] = [0, 0]
  for (let i = 0; i < known.length; i++) {
    const value = known[i] ?? 0
    cross += value * (sound[i] ?? 0)
    power += value * value
  }
  return Math.abs(cross / power)
}

/** Straight lines between samples are near enough for hum, which lies far below half of every rate. */
function atVoiceRate(samples: Float32Array, sampleRate: number): Float32Array {
  if (sampleRate === SAMPLE_RATE) return samples
  return Float32Array.from({ length: Math.floor((samples.length * SAMPLE_RATE) / sampleRate) }, (_, i) => {
    const at = (i * sampleRate) / SAMPLE_RATE
    const index = Math.floor(at)
    const value = samples[index] ?? 0
    return value + (at - index) * ((samples[index + 1] ?? value) - value)
  })
}
