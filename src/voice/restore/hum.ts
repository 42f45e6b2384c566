import { decimate } from '../resample-by-factor.js'
import { LOW_RATE, measureTone, phaseTurn, SEGMENT_SAMPLES, SEGMENT_SEC, type Tone } from './tone.js'
import { sumOfTones } from './tone-sum.js'

const FACTOR = 48_000 / LOW_RATE
/** Harmonics lie below 1.2 kHz and their aliases above 2.8 kHz, so that a short filter tells them apart. */
const CROSSINGS = 6
const MAINS_HZ = [50, 60] as const

/** Shorter sound does not show that a tone is steady. */
const LEAST_SEGMENTS = 40
/** At least so many harmonics are steady. A single tone may be music. */
const LEAST_HARMONICS = 2
/** Hum more than 45 dB under the sound, or under −85 dBFS, is left. */
const LEAST_SHARE = 10 ** -4.5
const LEAST_POWER = 10 ** -8.5

/** A mains hum in one channel. */
interface Hum {
  /** Its fundamental, measured. */
  readonly frequencyHz: number
  /** Mean square of all its harmonics. */
  readonly power: number
  /** The hum itself: the channel's length, in its place. Subtract it. */
  readonly samples: Float32Array<ArrayBuffer>
}

/**
 * Finds the hum of the mains with its harmonics, if it is there. Each harmonic is a narrow notch that follows its
 * frequency, its level and its phase. The level is measured mostly in pauses, so that the voice stays.
 *
 * @param channel 48 kHz
 */
export function findHum(channel: Float32Array): Hum | undefined {
  if (channel.length < LEAST_SEGMENTS * SEGMENT_SAMPLES * FACTOR) return undefined
  const low = decimate(channel, FACTOR, CROSSINGS)
  const segments = Math.floor(low.length / SEGMENT_SAMPLES)
  const powers = Float64Array.from({ length: segments }, (_, m) =>
    meanSquare(low.subarray(m * SEGMENT_SAMPLES, (m + 1) * SEGMENT_SAMPLES)),
  )
  const total = powers.reduce((sum, power) => sum + power, 0) / segments
  if (total < LEAST_POWER) return undefined
  const weights = weightsOf(powers)
  const found = MAINS_HZ.map((nominalHz) => findHarmonics(low, nominalHz, weights)).sort((a, b) => b.power - a.power)[0]
  if (!found || found.tones.length < LEAST_HARMONICS) return undefined
  if (found.power < Math.max(LEAST_POWER, LEAST_SHARE * total)) return undefined
  const samples = sumOfTones(found.tones, weights, { length: channel.length, factor: FACTOR })
  return { frequencyHz: found.frequencyHz, power: found.power, samples }
}

/** Quiet segments show the hum without the voice, so they count most. */
function weightsOf(powers: Float64Array): Float64Array {
  const floor = (Float64Array.from(powers).sort()[Math.floor(powers.length / 20)] ?? 0) + 1e-12
  return powers.map((power) => (floor / Math.max(floor, power)) ** 2)
}

function meanSquare(values: Float32Array): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += (values[i] ?? 0) ** 2
  return sum / values.length
}

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
function findHarmonics(low: Float32Array, nominalHz: number, weights: Float64Array) {
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
