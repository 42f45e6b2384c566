import { channelWeight } from '../../pcm/channel-weight.js'
import { energyOf } from '../../pcm/correlate.js'

/** Sound as interleaved samples; full scale is 1. */
export type Interleaved = Float32Array | Float64Array

/** Power of an error that nobody hears: -80 dB of full scale. */
const INAUDIBLE = 1e-8
/** Errors of two codings add up where they overlap, and vary from packet to packet. */
const MOST_TIMES_NOISE = 4

/** Power by which the new coding may be louder or softer than the wanted sound: codecs keep levels within 3 dB. */
const MOST_TIMES_LEVEL = 2

/** Mean power of the difference of two sounds. */
export function errorPower(one: Interleaved, other: Interleaved): number {
  let sum = 0
  for (let place = 0; place < one.length; place++) sum += ((one[place] as number) - (other[place] as number)) ** 2
  return sum / Math.max(1, one.length)
}

/**
 * True if each packet around a joint is as near to the wanted sound as the new coding alone.
 *
 * @param joined decoded from the joined packets, packet by packet
 * @param coded decoded from the new packets alone
 * @param wanted the sound that was encoded
 */
export function jointHolds(
  joined: readonly Interleaved[],
  coded: readonly Interleaved[],
  wanted: readonly Interleaved[],
): boolean {
  if (!hasSameLevel(coded, wanted)) return false
  const noise = wanted.map((sound, place) => errorPower(coded[place] as Interleaved, sound))
  const mean = noise.reduce((sum, power) => sum + power, 0) / Math.max(1, noise.length)
  return wanted.every((sound, place) => {
    const allowed = Math.max(noise[place] as number, Math.min(mean, 4 * (noise[place] as number)))
    // NaN fails.
    return errorPower(joined[place] as Interleaved, sound) <= MOST_TIMES_NOISE * allowed + INAUDIBLE
  })
}

/** False if a decoder that was set up for the old packets plays the new ones at another level. */
function hasSameLevel(one: readonly Interleaved[], other: readonly Interleaved[]): boolean {
  const levelOf = (sounds: readonly Interleaved[]) => sounds.reduce((sum, sound) => sum + powerOf(sound), 0)
  const [made, meant] = [levelOf(one), levelOf(other)]
  return made <= MOST_TIMES_LEVEL * meant + INAUDIBLE && meant <= MOST_TIMES_LEVEL * made + INAUDIBLE
}

function powerOf(sound: Interleaved): number {
  return energyOf(sound) / Math.max(1, sound.length)
}

/**
 * The shift at which a sound lies in a longer one, in samples; the nearest to `expected` of those that fit best.
 * Null if it fits nowhere.
 *
 * @param needle mono
 * @param hay mono, with `reach` samples before and after the expected place
 */
export function lagOf(needle: Interleaved, hay: Interleaved, reach: number): number | null {
  // Silence fits everywhere.
  if (powerOf(needle) < INAUDIBLE) return 0
  let best = 0
  let least = Number.POSITIVE_INFINITY
  for (let lag = -reach; lag <= reach; lag++) {
    let error = 0
    for (let place = 0; place < needle.length && error <= least; place++) {
      error += ((needle[place] as number) - (hay[place + reach + lag] as number)) ** 2
    }
    if (error < least || (error === least && Math.abs(lag) < Math.abs(best))) {
      least = error
      best = lag
    }
  }
  return least < LEAST_LIKENESS * energyOf(needle) ? best : null
}

/** Share of a sound by which its two decodings may differ: noise that a decoder makes up itself differs each time. */
const LEAST_LIKENESS = 0.05

/** Sound that must come back from the finished file, summed to mono. */
export interface SoundProbe {
  /** On the file's clock. */
  readonly atSample: number
  /** In 4 bytes each: a film with a thousand parts has three thousand probes. */
  readonly values: Float32Array
  /** Largest mean power of the error. */
  readonly mostError: number
}

/** Decoders that make up noise themselves differ from one time to the next. */
const MOST_TIMES_MEASURED = 4
const LEAST_ERROR = 1e-7

/** Makes a probe of a joint that holds. Sounds by packet, interleaved. */
export function probeOf(
  atSample: number,
  joined: readonly Interleaved[],
  wanted: readonly Interleaved[],
  channels: number,
): SoundProbe {
  const values = Float32Array.from(weightedMono(wanted, channels))
  const mostError = MOST_TIMES_MEASURED * errorPower(weightedMono(joined, channels), values) + LEAST_ERROR
  return { atSample, values, mostError }
}

/** Sums the channels of sounds that follow each other, by their weights. */
export function weightedMono(sounds: readonly Interleaved[], channels: number): Float64Array {
  const mono = new Float64Array(sounds.reduce((sum, { length }) => sum + length, 0) / channels)
  let at = 0
  for (const sound of sounds) {
    for (let place = 0; place + channels <= sound.length; place += channels) {
      let sum = 0
      for (let channel = 0; channel < channels; channel++)
        sum += channelWeight(channel) * (sound[place + channel] as number)
      mono[at++] = sum
    }
  }
  return mono
}
