/** Collects some parts of a mono stream of 32-bit floats. */
export class SyncWindows {
  readonly #windows: readonly { readonly from: number; readonly values: Float32Array }[]
  /** Samples up to the end of what was pushed. */
  sampleCount = 0

  constructor(parts: readonly { readonly from: number; readonly length: number }[]) {
    this.#windows = parts.map(({ from, length }) => ({ from, values: new Float32Array(length) }))
  }

  /** Samples of the part at that place; zeros after the end of the stream. */
  window(place: number): Float32Array {
    return this.#windows[place]?.values ?? new Float32Array(0)
  }

  /** The next samples are those of a section that begins there. */
  begin(startSample: number): void {
    this.sampleCount = startSample
  }

  /** Takes a chunk of whole samples. */
  push(chunk: Buffer): void {
    const count = chunk.length / 4
    for (const { from, values } of this.#windows) {
      const first = Math.max(from, this.sampleCount)
      const end = Math.min(from + values.length, this.sampleCount + count)
      for (let at = first; at < end; at++) {
        const value = chunk.readFloatLE((at - this.sampleCount) * 4)
        // One broken float (NaN, infinity) in the window would make the whole correlation NaN.
        values[at - from] = Number.isFinite(value) ? value : 0
      }
    }
    this.sampleCount += count
  }
}
