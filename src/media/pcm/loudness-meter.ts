import { type Biquad, channelWeights, kWeighting } from './loudness-filter.js'
import { frameBytes, type PcmFormat, sampleBytes } from './pcm.js'
import { readSamples } from './pcm-samples.js'
import { PEAK_REACH, peakAround } from './true-peak-limiter.js'

/** Loudness by EBU R128. */
export interface Loudness {
  /** LUFS of the whole; null for silence. */
  readonly integratedLufs: number | null
  /** dBTP; null for digital silence. */
  readonly truePeakDbtp: number | null
  /** LU (EBU Tech 3342); null for too little audio. */
  readonly rangeLu: number | null
}

/** The loudest parts, in LUFS; null if there is too little sound for one. */
export interface LoudnessMaxima {
  /** Highest loudness of 400 ms. */
  readonly momentaryMaxLufs: number | null
  /** Highest loudness of 3 s. */
  readonly shortTermMaxLufs: number | null
}

/** Blocks quieter than this never count (LUFS). */
const ABSOLUTE_GATE = -70
/** A momentary block is 400 ms, a short-term one 3 s; both move by 100 ms. */
const MOMENTARY_HOPS = 4
const SHORT_TERM_HOPS = 30

/**
 * Scratch space for one chunk, shared by all meters. New arrays would cost more than the measurement, and an ended
 * meter that waits with its result must hold none. Used within one call, never across two.
 */
const room = { values: new Float64Array(0), joined: new Float64Array(0) }

/**
 * Measures PCM while it streams. One pass of two small filters costs a fraction of ffmpeg's ebur128 with peaks, and
 * needs no second process. Keeps eight bytes per 100 ms.
 */
export class LoudnessMeter {
  readonly #format: PcmFormat
  readonly #weights: readonly number[]
  readonly #filters: readonly [Biquad, Biquad]
  readonly #state: Float64Array
  readonly #hopFrames: number
  readonly #hops: number[] = []
  #hopSum = 0
  #hopFill = 0
  #tail: Float64Array
  #peak = 0

  constructor(format: PcmFormat) {
    this.#format = format
    this.#weights = channelWeights(format.channels, format.channelLayout)
    this.#filters = kWeighting(format.sampleRate)
    this.#state = new Float64Array(4 * format.channels)
    this.#hopFrames = Math.round(format.sampleRate / 10)
    this.#tail = new Float64Array(2 * PEAK_REACH * format.channels)
  }

  /** Takes the next samples, in whole frames of the meter's format. */
  push(bytes: Buffer): void {
    const count = bytes.length / sampleBytes(this.#format.sample)
    if (room.values.length < count) room.values = new Float64Array(count)
    const values = readSamples(bytes, this.#format.sample, room.values)
    this.#takePeak(values)
    const frames = bytes.length / frameBytes(this.#format)
    for (let from = 0; from < frames; ) {
      const to = Math.min(frames, from + this.#hopFrames - this.#hopFill)
      for (const [channel, weight] of this.#weights.entries()) {
        if (weight > 0) this.#hopSum += weight * this.#filteredEnergy(values, from, to, channel)
      }
      this.#hopFill += to - from
      from = to
      if (this.#hopFill === this.#hopFrames) {
        this.#hops.push(this.#hopSum / this.#hopFrames)
        this.#hopSum = 0
        this.#hopFill = 0
      }
    }
  }

  result(): Loudness {
    const tail = this.#tail
    // The last samples wait for their successors; until then silence stands for these.
    this.#takePeak(new Float64Array(tail.length))
    this.#tail = tail
    return {
      integratedLufs: integrated(movingMeans(this.#hops, MOMENTARY_HOPS)),
      truePeakDbtp: this.#peak > 0 ? 20 * Math.log10(this.#peak) : null,
      rangeLu: range(movingMeans(this.#hops, SHORT_TERM_HOPS)),
    }
  }

  /** The loudest parts so far. */
  maxima(): LoudnessMaxima {
    return {
      momentaryMaxLufs: highest(movingMeans(this.#hops, MOMENTARY_HOPS)),
      shortTermMaxLufs: highest(movingMeans(this.#hops, SHORT_TERM_HOPS)),
    }
  }

  #filteredEnergy(values: Float64Array, from: number, to: number, channel: number): number {
    const { channels } = this.#format
    const [one, two] = this.#filters
    const [b0, b1, b2] = one.b
    const [a1, a2] = one.a
    const [c1, c2] = two.a
    const at = 4 * channel
    // Transposed form: two numbers of state per filter, kept in locals through the loop.
    const state = this.#state
    let s1 = state[at] as number
    let s2 = state[at + 1] as number
    let t1 = state[at + 2] as number
    let t2 = state[at + 3] as number
    let sum = 0
    for (let index = from * channels + channel, end = to * channels; index < end; index += channels) {
      const x = values[index] as number
      const y = b0 * x + s1
      s1 = b1 * x - a1 * y + s2
      s2 = b2 * x - a2 * y
      const z = y + t1
      t1 = -2 * y - c1 * z + t2
      t2 = y - c2 * z
      sum += z * z
    }
    state[at] = s1
    state[at + 1] = s2
    state[at + 2] = t1
    state[at + 3] = t2
    return sum
  }

  /** True peak, including the end of the previous chunk, so that no position between two chunks is missed. */
  #takePeak(values: Float64Array): void {
    const { channels } = this.#format
    const count = this.#tail.length + values.length
    if (room.joined.length < count) room.joined = new Float64Array(count)
    const joined = room.joined.subarray(0, count)
    joined.set(this.#tail)
    joined.set(values, this.#tail.length)
    const first = PEAK_REACH * channels
    const last = count - first
    // A position counts only if a neighbouring sample is loud, which skips most of a file cheaply.
    let peak = this.#peak
    for (let at = first; at < last + channels; at++) {
      if (Math.abs(joined[at] as number) * 2 < peak) continue
      const frame = Math.floor(at / channels)
      const channel = at % channels
      if (at >= first + channels) peak = Math.max(peak, peakAround(joined, frame - 1, channels, channel, peak))
      if (at < last) peak = Math.max(peak, peakAround(joined, frame, channels, channel, peak))
    }
    this.#peak = peak
    this.#tail = joined.slice(count - this.#tail.length)
  }
}

function lufs(power: number): number {
  return power > 0 ? -0.691 + 10 * Math.log10(power) : Number.NEGATIVE_INFINITY
}

function movingMeans(hops: readonly number[], length: number): number[] {
  return hops.slice(length - 1).map((_, index) => mean(hops.slice(index, index + length)))
}

/** Power mean of the blocks above the absolute gate that are at most 10 LU below their own mean. */
function integrated(blocks: readonly number[]): number | null {
  const loud = blocks.filter((power) => lufs(power) > ABSOLUTE_GATE)
  if (loud.length === 0) return null
  const gate = lufs(mean(loud)) - 10
  return lufs(mean(loud.filter((power) => lufs(power) > gate)))
}

/** From the 10th to the 95th percentile of short-term loudness, without blocks 20 LU below the mean. */
function range(blocks: readonly number[]): number | null {
  const loud = blocks.filter((power) => lufs(power) > ABSOLUTE_GATE)
  if (loud.length === 0) return null
  const gate = lufs(mean(loud)) - 20
  const sorted = loud
    .map(lufs)
    .filter((level) => level >= gate)
    .sort((one, other) => one - other)
  const at = (part: number) => sorted[Math.round((sorted.length - 1) * part)] as number
  return at(0.95) - at(0.1)
}

/** Loudness of the loudest block; null if none is above the absolute gate. */
function highest(blocks: readonly number[]): number | null {
  const loudest = lufs(blocks.reduce((most, power) => Math.max(most, power), 0))
  return loudest > ABSOLUTE_GATE ? loudest : null
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
