import { measureTone, phaseTurn, SEGMENT_SEC, type Tone } from './tone.js'

const HIGHEST_HZ = 1200
/** Coherence from which on a tone is steady: 1 for mains, about 0.3 for noise and voice. */
const STEADY = 0.8
/** Distances over which the phase is compared, in segments. The far ones measure the frequency more finely. */
const NEAR_LAGS = [1, 2, 3, 4]
const FAR_LAGS = Array.from({ length: 28 }, (_, i) => 5 + i)
/** The mains stay this near to their nominal frequency. */
const MOST_OFFSET_HZ = 0.5
/** Weaker lines, 30 dB under the strongest, may be traces of another tone. */
const LEAST_LINE = 1e-3

/**
 * Finds the steady harmonics of the mains up to 1.2 kHz.
 *
 * @param low at 4 kHz
 * @param weights of each segment
 * @returns the measured fundamental, the tones from the lowest to the highest, and the mean square of all of them
 */
export function findHarmonics(low: Float32Array, nominalHz: number, weights: Float64Array) {
  const offsetHz = offsetOf(low, nominalHz, weights)
  const frequencyHz = nominalHz + offsetHz
  const steady: { tone: Tone; power: number }[] = []
  if (Math.abs(offsetHz) > MOST_OFFSET_HZ) return { frequencyHz, tones: [], power: 0 }
  for (let harmonic = 1; harmonic * frequencyHz < HIGHEST_HZ; harmonic++) {
    // Hum has its lowest harmonics: without them, the rest need not be measured.
    if (harmonic > 3 && steady.length === 0) break
    const tone = measureTone(low, harmonic * frequencyHz)
    const { coherence, power } = phaseTurn(tone, weights, 1)
    if (coherence >= STEADY) steady.push({ tone, power: 2 * power })
  }
  const strongest = Math.max(...steady.map(({ power }) => power))
  const kept = steady.filter(({ power }) => power > LEAST_LINE * strongest)
  return { frequencyHz, tones: kept.map(({ tone }) => tone), power: kept.reduce((sum, { power }) => sum + power, 0) }
}

/** How far the mains are from their nominal frequency, by how fast the phases of three harmonics turn. */
function offsetOf(low: Float32Array, nominalHz: number, weights: Float64Array): number {
  const tones = [1, 2, 3].map((harmonic) => ({ harmonic, tone: measureTone(low, harmonic * nominalHz) }))
  const refined = (offset: number, lags: readonly number[], most: number): number => {
    let sum = 0
    let sizes = 1e-300
    for (const lag of lags) {
      for (const { harmonic, tone } of tones.slice(0, most)) {
        const { angle, size } = phaseTurn(tone, weights, lag)
        const turns = 2 * Math.PI * lag * SEGMENT_SEC * harmonic
        const rest = angle - turns * offset
        sum += size * turns * (rest - 2 * Math.PI * Math.round(rest / (2 * Math.PI)))
        sizes += size * turns * turns
      }
    }
    return offset + sum / sizes
  }
  // A phase is only known up to whole turns, and a high harmonic turns most: it refines what the low ones found.
  const near = refined(refined(0, [1], 1), NEAR_LAGS, 3)
  return refined(refined(refined(near, FAR_LAGS, 1), FAR_LAGS, 2), FAR_LAGS, 3)
}
