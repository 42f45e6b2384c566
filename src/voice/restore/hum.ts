import { decimate } from '../resample-by-factor.js'
import { findHarmonics } from './mains-harmonics.js'
import { LOW_RATE, SEGMENT_SAMPLES } from './tone.js'
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
