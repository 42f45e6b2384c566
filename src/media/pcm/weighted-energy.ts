import { type Biquad, kWeighting } from './loudness-filter.js'

/** Numbers of state of the two filters. */
const STATE = 4

/**
 * The energy of the channels of a sound behind the filters of BS.1770, while it streams. The filters are in transposed
 * form: two numbers of state each, kept in locals through the loops. Two channels are filtered at once: each filter waits
 * for its own last result, and the other one has time meanwhile.
 */
export class WeightedEnergy {
  readonly #weights: readonly number[]
  readonly #filters: readonly [Biquad, Biquad]
  readonly #state: Float64Array
  readonly #sums: Float64Array

  /** @param weights of the channels; one of 0 is not filtered */
  constructor(sampleRate: number, weights: readonly number[]) {
    this.#weights = weights
    this.#filters = kWeighting(sampleRate)
    this.#state = new Float64Array(STATE * weights.length)
    this.#sums = new Float64Array(weights.length)
  }

  /** Adds interleaved values from one place to another, which continue the last ones. */
  add(values: Float64Array, from: number, to: number): void {
    const { length } = this.#weights
    for (let channel = 0; channel < length; ) {
      if (channel + 1 < length && this.#weighs(channel) && this.#weighs(channel + 1)) {
        this.#filterTwo(values, from, to, channel)
        channel += 2
      } else {
        if (this.#weighs(channel)) this.#filterOne(values, from, to, channel)
        channel += 1
      }
    }
  }

  /** The weighted sum of all channels' energy since the last one. It does not depend on how the values came in parts. */
  take(): number {
    const energy = this.#weights.reduce((sum, weight, channel) => sum + weight * (this.#sums[channel] as number), 0)
    this.#sums.fill(0)
    return energy
  }

  #weighs(channel: number): boolean {
    return (this.#weights[channel] as number) > 0
  }

  #filterOne(values: Float64Array, from: number, to: number, channel: number): void {
    const channels = this.#weights.length
    const [{ b, a }, { a: c }] = this.#filters
    const [b0, b1, b2] = b
    const [a1, a2] = a
    const [c1, c2] = c
    const state = this.#state
    const at = STATE * channel
    let s1 = state[at] as number
    let s2 = state[at + 1] as number
    let t1 = state[at + 2] as number
    let t2 = state[at + 3] as number
    let sum = this.#sums[channel] as number
    for (let index = from + channel; index < to; index += channels) {
      const x = values[index] as number
      const y = b0 * x + s1
      s1 = b1 * x + s2 - a1 * y
      s2 = b2 * x - a2 * y
      const z = y + t1
      t1 = t2 - 2 * y - c1 * z
      t2 = y - c2 * z
      sum += z * z
    }
    state[at] = s1
    state[at + 1] = s2
    state[at + 2] = t1
    state[at + 3] = t2
    this.#sums[channel] = sum
  }

  /** {@link #filterOne} for a channel and the next one. */
  #filterTwo(values: Float64Array, from: number, to: number, channel: number): void {
    const channels = this.#weights.length
    const [{ b, a }, { a: c }] = this.#filters
    const [b0, b1, b2] = b
    const [a1, a2] = a
    const [c1, c2] = c
    const state = this.#state
    const at = STATE * channel
    let s1 = state[at] as number
    let s2 = state[at + 1] as number
    let t1 = state[at + 2] as number
    let t2 = state[at + 3] as number
    let u1 = state[at + 4] as number
    let u2 = state[at + 5] as number
    let v1 = state[at + 6] as number
    let v2 = state[at + 7] as number
    let sum = this.#sums[channel] as number
    let nextSum = this.#sums[channel + 1] as number
    for (let index = from + channel; index < to; index += channels) {
      const x = values[index] as number
      const nextX = values[index + 1] as number
      const y = b0 * x + s1
      const nextY = b0 * nextX + u1
      s1 = b1 * x + s2 - a1 * y
      u1 = b1 * nextX + u2 - a1 * nextY
      s2 = b2 * x - a2 * y
      u2 = b2 * nextX - a2 * nextY
      const z = y + t1
      const nextZ = nextY + v1
      t1 = t2 - 2 * y - c1 * z
      v1 = v2 - 2 * nextY - c1 * nextZ
      t2 = y - c2 * z
      v2 = nextY - c2 * nextZ
      sum += z * z
      nextSum += nextZ * nextZ
    }
    state[at] = s1
    state[at + 1] = s2
    state[at + 2] = t1
    state[at + 3] = t2
    state[at + 4] = u1
    state[at + 5] = u2
    state[at + 6] = v1
    state[at + 7] = v2
    this.#sums[channel] = sum
    this.#sums[channel + 1] = nextSum
  }
}
