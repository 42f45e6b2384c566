import FFT from 'fft.js'
import { interpolate } from '../resample-by-factor.js'
import { type Clipping, isCut } from './clipping.js'

/** Loud voice lies below 8 kHz, so that every third sample of 48 kHz shows it. Clipping cuts each sample alone. */
const FACTOR = 3
/** Frames of 32 ms at 16 kHz. */
const FRAME_SAMPLES = 512
const HOP_SAMPLES = 256
/** The transform is twice as long as the frame, so that a frequency between two bins is as sparse as on one. */
const TRANSFORM_SAMPLES = 1024
const BINS = TRANSFORM_SAMPLES / 2 + 1
/** In each round, the frame may have so many bins more. */
const BINS_PER_ROUND = 2
/** The search ends when the sparse spectrum is this near to the frame, as a share of its amplitude. */
const CLOSE = 0.1

/** The root of a Hann window: applied before and after, it adds up to 1. */
const WINDOW = Float64Array.from({ length: FRAME_SAMPLES }, (_, i) => Math.sin((Math.PI * (i + 0.5)) / FRAME_SAMPLES))

/**
 * Finds the peaks of a clipped channel by the fewest frequencies that explain the samples that are left (A-SPADE: Kitić,
 * Bertin and Gribonval, 2015). No sample lies inside the level at which it was cut.
 *
 * @param channel 48 kHz
 */
export function sparsePeaks(channel: Float32Array, clipping: Clipping): Float32Array<ArrayBuffer> {
  const picked = Float32Array.from({ length: Math.ceil(channel.length / FACTOR) }, (_, i) => channel[i * FACTOR] ?? 0)
  const search = new SparseSearch()
  const sum = new Float32Array(picked.length)
  for (let start = HOP_SAMPLES - FRAME_SAMPLES; start < picked.length; start += HOP_SAMPLES) {
    const given = new Float64Array(FRAME_SAMPLES)
    const signs = new Int8Array(FRAME_SAMPLES)
    for (let i = 0; i < FRAME_SAMPLES; i++) {
      const value = picked[start + i] ?? 0
      given[i] = value * (WINDOW[i] ?? 0)
      if (isCut(value, clipping)) signs[i] = Math.sign(value)
    }
    const frame = signs.some((sign) => sign !== 0) ? search.complete(given, signs) : given
    for (let i = Math.max(0, -start); i < FRAME_SAMPLES && start + i < sum.length; i++) {
      sum[start + i] = (sum[start + i] ?? 0) + (frame[i] ?? 0) * (WINDOW[i] ?? 0)
    }
  }
  const peaks = interpolate(sum, FACTOR, channel.length)
  return Float32Array.from(channel, (value, i) => {
    if (!isCut(value, clipping)) return value
    return value > 0 ? Math.max(value, peaks[i] ?? 0) : Math.min(value, peaks[i] ?? 0)
  })
}

/** Alternates between the sparse spectrum and the samples that are known. */
class SparseSearch {
  readonly #fft = new FFT(TRANSFORM_SAMPLES)
  readonly #time = new Float64Array(TRANSFORM_SAMPLES)
  readonly #spectrum = new Float64Array(2 * TRANSFORM_SAMPLES)
  readonly #sparse = new Float64Array(2 * TRANSFORM_SAMPLES)
  readonly #rest = new Float64Array(2 * TRANSFORM_SAMPLES)
  readonly #goal = new Float64Array(2 * TRANSFORM_SAMPLES)
  readonly #output = new Float64Array(2 * TRANSFORM_SAMPLES)
  readonly #powers = new Float64Array(BINS)

  /** @param signs of the samples that were cut, outwards; 0 for all others */
  complete(given: Float64Array, signs: Int8Array): Float64Array {
    this.#time.fill(0)
    this.#time.set(given)
    this.#rest.fill(0)
    const closeEnough = CLOSE ** 2 * given.reduce((power, value) => power + value * value, 0)
    for (let bins = BINS_PER_ROUND; bins < BINS; bins += BINS_PER_ROUND) {
      this.#fft.realTransform(this.#spectrum, this.#time)
      this.#chooseStrongest(bins)
      this.#fft.completeSpectrum(this.#goal)
      this.#fft.inverseTransform(this.#output, this.#goal)
      for (const [i, sign] of signs.entries()) {
        const known = given[i] ?? 0
        const found = this.#output[2 * i] ?? 0
        this.#time[i] = sign === 0 ? known : sign * Math.max(Math.abs(known), sign * found)
      }
      if (this.#distance() <= closeEnough) break
    }
    return this.#time.slice(0, FRAME_SAMPLES)
  }

  /** Keeps the strongest bins of the spectrum with what earlier rounds left over. */
  #chooseStrongest(bins: number): void {
    for (let bin = 0; bin < BINS; bin++) {
      const re = (this.#spectrum[2 * bin] ?? 0) + (this.#rest[2 * bin] ?? 0)
      const im = (this.#spectrum[2 * bin + 1] ?? 0) + (this.#rest[2 * bin + 1] ?? 0)
      this.#sparse[2 * bin] = re
      this.#sparse[2 * bin + 1] = im
      this.#powers[bin] = re * re + im * im
    }
    const least = this.#powers.slice().sort()[BINS - bins] ?? 0
    for (let i = 0; i < 2 * BINS; i++) {
      if ((this.#powers[i >> 1] ?? 0) < least) this.#sparse[i] = 0
      this.#goal[i] = (this.#sparse[i] ?? 0) - (this.#rest[i] ?? 0)
    }
  }

  /** Power of the difference between the frame and its sparse spectrum, which the next round gets as its rest. */
  #distance(): number {
    this.#fft.realTransform(this.#spectrum, this.#time)
    let power = 0
    for (let i = 0; i < 2 * BINS; i++) {
      const difference = (this.#spectrum[i] ?? 0) - (this.#sparse[i] ?? 0)
      const isSingle = i < 2 || i >= 2 * (BINS - 1)
      power += (isSingle ? 1 : 2) * difference * difference
      this.#rest[i] = (this.#rest[i] ?? 0) + difference
    }
    return power / TRANSFORM_SAMPLES
  }
}
