import { type SampleType, sampleBytes } from './pcm.js'

/** Interleaved samples at a full scale of ±1, exact for every type. Reuses `out` if it is long enough. */
export function readSamples(bytes: Buffer, sample: SampleType, out?: Float64Array): Float64Array {
  const values = valuesOf(bytes, sample)
  const target = out && out.length >= values.length ? out.subarray(0, values.length) : new Float64Array(values.length)
  const scale = fullScaleOf(sample)
  if (scale === 1) target.set(values)
  else {
    // Exact, because every scale is a power of two, and faster than a division.
    const unit = 1 / scale
    for (let index = 0; index < values.length; index++) target[index] = (values[index] as number) * unit
  }
  return target
}

/**
 * The inverse of {@link readSamples}, into new bytes or given ones of their length. Rounds integers half to even and clips at full scale. It adds no dither: the
 * values were integers of this width, changed by a few dB at most. Their own noise dithers them, and an unchanged value
 * must return unchanged.
 */
export function writeSamples(
  values: Float64Array,
  sample: SampleType,
  bytes: Buffer = Buffer.alloc(values.length * sampleBytes(sample)),
): Buffer {
  const target = valuesOf(bytes, sample)
  const scale = fullScaleOf(sample)
  if (scale === 1) target.set(values)
  else
    for (let index = 0; index < values.length; index++)
      target[index] = quantise((values[index] as number) * scale, scale)
  return bytes
}

type Values = Int16Array | Int32Array | Float32Array | Float64Array
type ValuesView = new (buffer: ArrayBufferLike, byteOffset: number, count: number) => Values
/** The array of each type, and its value of full scale. */
const VIEWS: Readonly<Record<SampleType, ValuesView>> = {
  ...{ s16: Int16Array, s32: Int32Array, f32: Float32Array, f64: Float64Array },
}
const FULL_SCALES: Readonly<Record<SampleType, number>> = { s16: 2 ** 15, s32: 2 ** 31, f32: 1, f64: 1 }

/** A view of a buffer's values in their own type. Copies only if the buffer is not aligned. */
export function valuesOf(bytes: Buffer, sample: SampleType): Values {
  const size = sampleBytes(sample)
  const { buffer, byteOffset } = bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes)
  return new VIEWS[sample](buffer, byteOffset, Math.floor(bytes.length / size))
}

/** The value of full scale in that type. */
export function fullScaleOf(sample: SampleType): number {
  return FULL_SCALES[sample]
}

/** Rounds half to even, so that rounding adds no offset. Clips instead of wrapping. */
function quantise(value: number, scale: number): number {
  const floor = Math.floor(value)
  const rest = value - floor
  const rounded = rest < 0.5 ? floor : rest > 0.5 ? floor + 1 : floor % 2 === 0 ? floor : floor + 1
  return rounded >= scale ? scale - 1 : rounded < -scale ? -scale : rounded
}
