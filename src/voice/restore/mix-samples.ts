import { HOP_SAMPLES } from './spectral-change.js'

/** A row of values, one a frame, between two of which it runs straight. */
function valueAt(values: Float64Array, sample: number): number {
  const at = sample / HOP_SAMPLES
  const frame = Math.floor(at)
  const left = values[frame] ?? 0
  return left + ((values[frame + 1] ?? left) - left) * (at - frame)
}

/** The original with so much of a change. @param wet 0 … 1 by frame @param innerStart of the original in it */
export function added(
  original: Float32Array,
  change: Float32Array,
  wet: Float64Array,
  innerStart: number,
): Float32Array<ArrayBuffer> {
  const mended = new Float32Array(original)
  for (let i = 0; i < mended.length; i++) {
    const here = valueAt(wet, innerStart + i)
    if (here !== 0) mended[i] = (original[i] ?? 0) + here * (change[innerStart + i] ?? 0)
  }
  return mended
}

/** Goes back to the original as far as `share` says, frame by frame: to the bit if it is 1. In place. */
export function goBack(mended: Float32Array, original: Float32Array, share: Float64Array, innerStart: number): void {
  for (let i = 0; i < mended.length; i++) {
    const here = valueAt(share, innerStart + i)
    const [from, to] = [mended[i] ?? 0, original[i] ?? 0]
    mended[i] = here === 1 ? to : from + here * (to - from)
  }
}
