import type { SyncSample } from './sync-reference.js'

/** Picks the surroundings of sync samples out of a mono stream of 32-bit floats that flows by. */
export class SyncWindows {
  readonly #windows: readonly { readonly from: number; readonly values: Float64Array }[]
  #rest: Buffer = Buffer.alloc(0)
  sampleCount = 0

  /** @param reach samples to keep before and after each */
  constructor(samples: readonly SyncSample[], reach: number) {
    this.#windows = samples.map(({ atSample, values }) => ({
      from: atSample - reach,
      values: new Float64Array(values.length + 2 * reach),
    }))
  }

  /** What was there around the sync sample of that place; silence where the stream had ended. */
  window(place: number): Float64Array {
    return this.#windows[place]?.values ?? new Float64Array(0)
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    const count = Math.floor(bytes.length / 4)
    for (const { from, values } of this.#windows) {
      const first = Math.max(from, this.sampleCount)
      const end = Math.min(from + values.length, this.sampleCount + count)
      for (let at = first; at < end; at++) {
        const value = bytes.readFloatLE((at - this.sampleCount) * 4)
        // One broken float (NaN, infinity) beside what is listened for would spoil all that is reckoned with it.
        values[at - from] = Number.isFinite(value) ? value : 0
      }
    }
    this.sampleCount += count
    this.#rest = bytes.subarray(count * 4)
  }
}
