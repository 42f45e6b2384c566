import FFT from 'fft.js'
import { MaskGain } from './mask-gain.js'
import type { MaskSettings } from './mask-settings.js'
import { addPair, splitPair } from './spectrum-pair.js'

/** Window of the mask: 21 ms at 48 kHz, half overlapped. */
export const WINDOW_SAMPLES = 1024
export const HOP_SAMPLES = WINDOW_SAMPLES / 2

const BINS = WINDOW_SAMPLES / 2 + 1
const BIN_HZ = 48_000 / WINDOW_SAMPLES

/** Square root of a Hann window: applied before and after, overlapped by half, it adds up to 1. */
const WINDOW = Float64Array.from({ length: WINDOW_SAMPLES }, (_, i) => Math.sin((Math.PI * i) / WINDOW_SAMPLES))

/**
 * Applies to the original what a model did to it, as a gain in time and frequency.
 *
 * The model's own output has its high-pass's phase and its pitch filter's errors in it; the gain it stands for,
 * laid on the original, has neither, and can be dosed. All channels get one gain, so that the stereo image stays.
 *
 * @param original the channels, 48 kHz
 * @param voices what the model made of each, of the same length and in the same place
 * @param strength 0 (leave alone) … 1 at a sample position
 * @returns new channels of the same length
 */
export function applyMask(
  original: readonly Float32Array[],
  voices: readonly Float32Array[],
  settings: MaskSettings,
  strength: (sample: number) => number,
): Float32Array[] {
  const length = original[0]?.length ?? 0
  const gain = new MaskGain(settings, BIN_HZ)
  const tracks = original.map((channel, c) => new MaskedTrack(channel, voices[c] ?? new Float32Array(length)))
  const sums = { product: new Float64Array(BINS), power: new Float64Array(BINS) }
  const change = new Float64Array(BINS)

  for (let start = HOP_SAMPLES - WINDOW_SAMPLES; start < length; start += HOP_SAMPLES) {
    const wet = strength(start + HOP_SAMPLES)
    // Nothing to mend: the samples stay as they are, to the bit.
    if (wet === 0) continue
    sums.product.fill(0)
    sums.power.fill(0)
    for (const track of tracks) track.hear(start, sums)
    gain.changeOf(sums, wet, change)
    for (const track of tracks) track.change(change)
  }
  for (const track of tracks) track.flush()
  return tracks.map(({ result }) => result)
}

const fft = new FFT(WINDOW_SAMPLES)
const packed = new Float64Array(2 * WINDOW_SAMPLES)
const spectrum = new Float64Array(2 * WINDOW_SAMPLES)
const samples = new Float64Array(2 * WINDOW_SAMPLES)

/** One channel on its way through the mask. Two windows at a time share one inverse transform. */
class MaskedTrack {
  readonly result: Float32Array
  readonly #original: Float32Array
  readonly #voice: Float32Array
  /** The original's spectrum in the window last heard, bins in pairs of real and imaginary part. */
  readonly #heard = new Float64Array(2 * BINS)
  readonly #paired = new Float64Array(2 * WINDOW_SAMPLES)
  readonly #starts: number[] = []
  #start = 0

  constructor(original: Float32Array, voice: Float32Array) {
    this.#original = original
    this.#voice = voice
    this.result = original.slice()
  }

  /** Original and voice are two real signals: one complex transform has them both. */
  hear(start: number, sums: { product: Float64Array; power: Float64Array }): void {
    this.#start = start
    for (let i = 0; i < WINDOW_SAMPLES; i++) {
      const weight = WINDOW[i] ?? 0
      packed[2 * i] = (this.#original[start + i] ?? 0) * weight
      packed[2 * i + 1] = (this.#voice[start + i] ?? 0) * weight
    }
    fft.transform(spectrum, packed)
    splitPair(spectrum, this.#heard, sums)
  }

  change(change: Float64Array): void {
    addPair(this.#paired, this.#heard, change, this.#starts.length === 0 ? 'first' : 'second')
    this.#starts.push(this.#start)
    if (this.#starts.length === 2) this.flush()
  }

  flush(): void {
    if (this.#starts.length > 0) fft.inverseTransform(samples, this.#paired)
    for (const [part, start] of this.#starts.entries()) {
      const to = Math.min(WINDOW_SAMPLES, this.result.length - start)
      for (let i = Math.max(0, -start); i < to; i++) {
        this.result[start + i] = (this.result[start + i] ?? 0) + (samples[2 * i + part] ?? 0) * (WINDOW[i] ?? 0)
      }
    }
    this.#starts.length = 0
  }
}
