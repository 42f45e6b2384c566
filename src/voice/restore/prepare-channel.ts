import { decimate, interpolate } from '../resample-by-factor.js'
import { findReverberation, REVERBERATION_RATE } from '../reverberation/find-reverberation.js'
import { type Clipping, findClipping } from './clipping.js'
import { findHum } from './hum.js'
import { predictPeaks } from './predicted-peaks.js'
import { sparsePeaks } from './sparse-peaks.js'

const FACTOR = 48_000 / REVERBERATION_RATE

/** A channel without the faults that are not noise. */
export interface PreparedChannel {
  /** 48 kHz. The same array if nothing was corrected. */
  readonly sound: Float32Array<ArrayBuffer>
  /** The same with its reverberation. */
  readonly whole: Float32Array<ArrayBuffer>
  /** The change that took the reverberation out; undefined if there is none. */
  readonly room: Float32Array | undefined
  /** The same sound at 16 kHz. */
  readonly low: () => Float32Array
}

/** Takes a channel as it is. */
export function unprepared(sound: Float32Array<ArrayBuffer>): PreparedChannel {
  return { sound, whole: sound, room: undefined, low: () => decimate(sound, FACTOR) }
}

/**
 * Corrects faults that are not noise. Flat peaks come first, because a filter would round them. Then comes the hum of the
 * mains, because it hides the noise under it from the models. Reverberation comes last: it is predicted from a sound that
 * is otherwise whole.
 *
 * @param channel 48 kHz
 * @param origin sample that lies alike in every block
 */
export function prepareChannel(channel: Float32Array<ArrayBuffer>, origin: number): PreparedChannel {
  const clipping = findClipping(channel)
  const whole = clipping ? restorePeaks(channel, clipping) : channel
  const hum = findHum(whole)
  const sound = hum ? whole.map((value, i) => value - (hum.samples[i] ?? 0)) : whole
  const low = decimate(sound, FACTOR)
  const change = findReverberation(low, Math.round(origin / FACTOR))
  if (!change) return { sound, whole: sound, room: undefined, low: () => low }
  const wide = interpolate(change, FACTOR, sound.length)
  return {
    sound: sound.map((value, i) => value + (wide[i] ?? 0)),
    whole: sound,
    room: wide,
    low: () => low.map((value, i) => value + (change[i] ?? 0)),
  }
}

/**
 * Restores the peaks of a clipped channel: the mean of two methods. Prediction is better for short gaps, and sparsity for
 * long ones, and their errors do not agree. All other samples stay.
 *
 * @param channel 48 kHz
 * @returns the channel with its peaks, which may exceed full scale
 */
export function restorePeaks(channel: Float32Array<ArrayBuffer>, clipping: Clipping): Float32Array<ArrayBuffer> {
  const predicted = predictPeaks(channel, clipping)
  const sparse = sparsePeaks(channel, clipping)
  return predicted.map((value, i) => (value + (sparse[i] ?? 0)) / 2)
}
