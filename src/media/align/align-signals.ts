import type { PcmFormat } from '../pcm/pcm.js'
import { fullScaleOf, readSamples, valuesOf } from '../pcm/pcm-samples.js'

/** A stretch of audio prepared for comparison. */
export interface ComparableSignal {
  /** At the full rate: mono, without the rumble below speech. */
  readonly full: Float64Array
  /** The speech band, downsampled by {@link coarseFactor} and flattened. */
  readonly coarse: Float64Array
}

/** Full samples per coarse sample. 8 kHz or a little more holds what makes speech recognisable. */
export function coarseFactor(sampleRate: number): number {
  return Math.max(1, Math.floor(sampleRate / 8000))
}

/**
 * Mixes several channels to mono: their mean, or the loudest one if they cancel each other out. The other signal's choice comes in `channel`, so that both are treated alike. Writes into `out` if it is long enough.
 */
export function mixToMono(
  bytes: Buffer,
  { channels, sample }: Pick<PcmFormat, 'channels' | 'sample'>,
  choice?: 'mean' | number,
  out: Float64Array = new Float64Array(0),
): { mono: Float64Array; choice: 'mean' | number } {
  if (channels === 1) return { mono: readSamples(bytes, sample, out), choice: choice ?? 'mean' }
  // Reads the values in place. Copies of all channels would be most of a stretch's memory.
  const values = valuesOf(bytes, sample)
  const scale = fullScaleOf(sample)
  const frames = Math.floor(values.length / channels)
  const mono = out.length >= frames ? out.subarray(0, frames) : new Float64Array(frames)
  const energies = new Float64Array(channels)
  let meanEnergy = 0
  for (let frame = 0; frame < frames; frame++) {
    let sum = 0
    for (let channel = 0; channel < channels; channel++) {
      const value = (values[frame * channels + channel] as number) / scale
      sum += value
      energies[channel] = (energies[channel] as number) + value * value
    }
    mono[frame] = sum / channels
    meanEnergy += (sum / channels) ** 2
  }
  const loudest = energies.indexOf(Math.max(...energies))
  const made = choice ?? (meanEnergy * channels * channels > 0.1 * (energies[loudest] as number) ? 'mean' : loudest)
  if (made === 'mean') return { mono, choice: made }
  const channel = Math.min(made, channels - 1)
  for (let frame = 0; frame < frames; frame++) mono[frame] = (values[frame * channels + channel] as number) / scale
  return { mono, choice: made }
}

/** Prepares mono audio for comparison, filtering it in place. */
export function comparable(mono: Float64Array, sampleRate: number): ComparableSignal {
  removeRumble(mono, sampleRate)
  const factor = coarseFactor(sampleRate)
  const coarse = factor === 1 ? mono.slice() : decimated(mono, factor)
  emphasise(coarse)
  return { full: mono, coarse }
}

/** One-pole high-pass at 100 Hz, because traffic and hum would outweigh the voice. Both signals have the same delay. */
export function removeRumble(mono: Float64Array, sampleRate: number): void {
  const keep = Math.exp((-2 * Math.PI * 100) / sampleRate)
  let previous = 0
  let last = 0
  for (let index = 0; index < mono.length; index++) {
    const value = mono[index] as number
    last = keep * (last + value - previous)
    previous = value
    mono[index] = last
  }
}

/** So many samples are computed side by side, because each sum waits for its last addition. */
const AT_ONCE = 4

/** Scratch space for one signal, shared: two arrays per stretch would be most of a short file's garbage. Weak, as it is large. */
let scratch = new WeakRef(new Float64Array(0))

/** Low-pass (windowed sinc, centred, without delay), then every `factor`-th sample. */
function decimated(signal: Float64Array, factor: number): Float64Array {
  const reach = 6 * factor
  const taps = Float64Array.from({ length: 2 * reach + 1 }, (_, index) => {
    const at = index - reach
    const sinc = at === 0 ? 1 : Math.sin((Math.PI * at) / factor) / ((Math.PI * at) / factor)
    return (sinc * (0.5 + 0.5 * Math.cos((Math.PI * at) / (reach + 1)))) / factor
  })
  // Silence on both sides saves bounds checks in the innermost loop, which runs a hundred million times per hour of
  // audio.
  const count = Math.ceil(signal.length / factor)
  const length = signal.length + 2 * reach + AT_ONCE * factor
  const padded = roomFor(length)
  padded.fill(0, 0, reach).set(signal, reach)
  padded.fill(0, reach + signal.length)
  const out = new Float64Array(AT_ONCE * Math.ceil(count / AT_ONCE))
  for (let index = 0; index < out.length; index += AT_ONCE) {
    const from = index * factor
    let [a, b, c, d] = [0, 0, 0, 0]
    for (let tap = 0, at = from; tap < taps.length; tap++, at++) {
      const weight = taps[tap] as number
      a += weight * (padded[at] as number)
      b += weight * (padded[at + factor] as number)
      c += weight * (padded[at + 2 * factor] as number)
      d += weight * (padded[at + 3 * factor] as number)
    }
    out[index] = a
    out[index + 1] = b
    out[index + 2] = c
    out[index + 3] = d
  }
  return out.subarray(0, count)
}

function roomFor(length: number): Float64Array {
  let room = scratch.deref()
  if (room === undefined || room.length < length) {
    room = new Float64Array(length)
    scratch = new WeakRef(room)
  }
  return room.subarray(0, length)
}

/** Boosts the upper speech band. Its sharper structure separates one lag from its neighbours a pitch away. */
function emphasise(signal: Float64Array): void {
  let previous = 0
  for (let index = 0; index < signal.length; index++) {
    const value = signal[index] as number
    signal[index] = value - 0.9 * previous
    previous = value
  }
}
