import type { PcmFormat } from './pcm.js'

/** Taps on either side of a position between two samples. */
export const PEAK_REACH = 12

/** The filters of the three positions examined between two samples: quarters at 48 kHz, as in BS.1770. */
const TABLE = [tapsAt(1 / 4), tapsAt(2 / 4), tapsAt(3 / 4)] as const

function tapsAt(share: number): Float64Array {
  return Float64Array.from({ length: 2 * PEAK_REACH }, (_, tap) => {
    const at = tap - PEAK_REACH + 1 - share
    const window = 0.5 + 0.5 * Math.cos((Math.PI * at) / (PEAK_REACH + 0.5))
    return (Math.sin(Math.PI * at) / (Math.PI * at)) * window
  })
}

/** The gain starts to fall this long before a peak. */
const LOOK_AHEAD_SEC = 0.005
/** The gain returns this slowly, so that the voice does not pump. */
const RELEASE_SEC = 0.08
/** Changing the gain moves peaks between samples slightly, so the target is this much lower. */
const MARGIN_DB = 0.1

/**
 * Keeps true peaks below a ceiling. It lowers the gain of all channels together ahead of each peak. Audio below the
 * ceiling passes at gain 1. The delay is compensated: output equals input sample for sample.
 */
export class TruePeakLimiter {
  readonly #channels: number
  readonly #ceiling: number
  readonly #ahead: number
  readonly #release: number
  /** Frames not yet returned, after {@link PEAK_REACH} returned ones. */
  #held: Float64Array
  /** The gain that each held frame needs on its own, as far as it is known. */
  #needs: number[] = []
  #released = 1
  /** The last `#ahead + 1` released gains. Their mean is applied. */
  readonly #recent: number[]
  #recentSum: number
  #recentAt = 0

  constructor(format: PcmFormat, ceilingDbtp: number) {
    this.#channels = format.channels
    this.#ceiling = 10 ** ((ceilingDbtp - MARGIN_DB) / 20)
    this.#ahead = Math.round(LOOK_AHEAD_SEC * format.sampleRate)
    this.#release = 1 - Math.exp(-1 / (RELEASE_SEC * format.sampleRate))
    this.#held = new Float64Array(PEAK_REACH * this.#channels)
    this.#recent = new Array<number>(this.#ahead + 1).fill(1)
    this.#recentSum = this.#ahead + 1
  }

  /** Takes interleaved samples and returns those with a known future. */
  push(values: Float64Array): Float64Array {
    const joined = new Float64Array(this.#held.length + values.length)
    joined.set(this.#held)
    joined.set(values, this.#held.length)
    this.#held = joined
    const known = joined.length / this.#channels - 2 * PEAK_REACH - 1
    for (let frame = this.#needs.length; frame < known; frame++) this.#needs.push(this.#needOf(frame + PEAK_REACH))
    return this.#emit(Math.max(0, this.#needs.length - 2 * this.#ahead))
  }

  /** Returns the remaining samples. */
  end(): Float64Array {
    const rest = this.#held.length - PEAK_REACH * this.#channels
    const out = this.push(new Float64Array((2 * this.#ahead + 2 * PEAK_REACH + 2) * this.#channels))
    return out.subarray(0, rest)
  }

  #needOf(frame: number): number {
    let peak = 0
    for (let channel = 0; channel < this.#channels; channel++) {
      peak = Math.max(peak, peakAround(this.#held, frame, this.#channels, channel, this.#ceiling))
    }
    return peak > this.#ceiling ? this.#ceiling / peak : 1
  }

  #emit(frames: number): Float64Array {
    const out = new Float64Array(frames * this.#channels)
    let lowestAt = -1
    for (let frame = 0; frame < frames; frame++) {
      // The lowest need within the look-ahead, including the sample before a peak between two samples.
      if (lowestAt < frame) lowestAt = this.#lowest(frame)
      const entering = frame + this.#ahead
      if ((this.#needs[entering] as number) <= (this.#needs[lowestAt] as number)) lowestAt = entering
      const wanted = this.#needs[lowestAt] as number
      this.#released = Math.min(wanted, this.#released + (1 - this.#released) * this.#release)
      const gain = this.#smoothed(this.#released)
      for (let channel = 0; channel < this.#channels; channel++) {
        const at = frame * this.#channels + channel
        out[at] = (this.#held[at + PEAK_REACH * this.#channels] as number) * gain
      }
    }
    this.#held = this.#held.slice(frames * this.#channels)
    this.#needs.splice(0, frames)
    return out
  }

  #lowest(from: number): number {
    let at = from
    for (let frame = from; frame <= from + this.#ahead; frame++) {
      if ((this.#needs[frame] as number) <= (this.#needs[at] as number)) at = frame
    }
    return at
  }

  #smoothed(gain: number): number {
    this.#recentSum += gain - (this.#recent[this.#recentAt] as number)
    this.#recent[this.#recentAt] = gain
    this.#recentAt = (this.#recentAt + 1) % this.#recent.length
    return this.#released === 1 && this.#recentSum > this.#recent.length - 1e-9
      ? 1
      : this.#recentSum / this.#recent.length
  }
}

/**
 * The greatest absolute value of one interleaved channel from sample `frame` up to the next, including positions
 * between them. The `values` must reach {@link PEAK_REACH} frames to both sides. If both samples are below half of
 * `floor`, only they count, which skips most of a file.
 */
export function peakAround(
  values: Float64Array,
  frame: number,
  channels: number,
  channel: number,
  floor: number,
): number {
  const here = Math.abs(values[frame * channels + channel] as number)
  const next = Math.abs(values[(frame + 1) * channels + channel] as number)
  if (here < floor / 2 && next < floor / 2) return here
  // One loop for all positions: each sample is read once, and no sum waits for another.
  const [early, middle, late] = TABLE
  let [earlySum, middleSum, lateSum] = [0, 0, 0]
  let at = (frame - PEAK_REACH + 1) * channels + channel
  for (let tap = 0; tap < 2 * PEAK_REACH; tap++, at += channels) {
    const value = values[at] as number
    earlySum += (early[tap] as number) * value
    middleSum += (middle[tap] as number) * value
    lateSum += (late[tap] as number) * value
  }
  return Math.max(here, Math.abs(earlySum), Math.abs(middleSum), Math.abs(lateSum))
}
