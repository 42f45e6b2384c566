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

/** A view of a buffer's values in their own type. Copies only if the buffer is not aligned. */
export function valuesOf(bytes: Buffer, sample: SampleType): Int16Array | Int32Array | Float32Array | Float64Array {
  const size = sampleBytes(sample)
  const count = Math.floor(bytes.length / size)
  const straight = bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes)
  const { buffer, byteOffset } = straight
  switch (sample) {
    case 's16':
      return new Int16Array(buffer, byteOffset, count)
    case 's32':
      return new Int32Array(buffer, byteOffset, count)
    case 'f32':
      return new Float32Array(buffer, byteOffset, count)
    case 'f64':
      return new Float64Array(buffer, byteOffset, count)
    default:
      return sample satisfies never
  }
}

/** The value of full scale in that type. */
export function fullScaleOf(sample: SampleType): number {
  switch (sample) {
    case 's16':
      return 2 ** 15
    case 's32':
      return 2 ** 31
    case 'f32':
    case 'f64':
      return 1
    default:
      return sample satisfies never
  }
}

/** Rounds half to even, so that rounding adds no offset. Clips instead of wrapping. */
function quantise(value: number, scale: number): number {
  const floor = Math.floor(value)
  const rest = value - floor
  const rounded = rest < 0.5 ? floor : rest > 0.5 ? floor + 1 : floor % 2 === 0 ? floor : floor + 1
  return rounded >= scale ? scale - 1 : rounded < -scale ? -scale : rounded
}
