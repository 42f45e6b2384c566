/** Zero crossings of the sinc to each side, at the lower rate. */
const CROSSINGS = 24

/** To a rate lower by a whole factor, band-limited, in place to the sample. */
export function decimate(samples: Float32Array, factor: number): Float32Array {
  if (factor === 1) return samples
  const kernel = lowPass(factor)
  const reach = (kernel.length - 1) / 2
  // Silence on both sides spares the loop a look at the ends.
  const padded = new Float32Array(samples.length + 2 * reach + factor)
  padded.set(samples, reach)
  const out = new Float32Array(Math.ceil(samples.length / factor))
  for (let i = 0; i < out.length; i++) {
    const first = i * factor
    let sum = 0
    for (let k = 0; k < kernel.length; k++) sum += (padded[first + k] ?? 0) * (kernel[k] ?? 0)
    out[i] = sum
  }
  return out
}

/** Back to a rate higher by a whole factor: `length` samples. */
export function interpolate(samples: Float32Array, factor: number, length: number): Float32Array {
  if (factor === 1) return samples.slice(0, length)
  const kernel = lowPass(factor)
  const reach = (kernel.length - 1) / 2
  const padded = new Float32Array(Math.ceil(length / factor) + 2 * CROSSINGS + 2)
  padded.set(samples.subarray(0, padded.length - CROSSINGS), CROSSINGS)
  const out = new Float32Array(length)
  for (let i = 0; i < length; i++) {
    // The first sample at the lower rate within the kernel's reach, and where the kernel stands there.
    const first = Math.ceil((i - reach) / factor)
    let sum = 0
    for (let at = first + CROSSINGS, k = i - first * factor + reach; k >= 0; at++, k -= factor) {
      sum += (padded[at] ?? 0) * (kernel[k] ?? 0)
    }
    out[i] = sum * factor
  }
  return out
}

/** A windowed sinc that ends at 95 % of the lower rate's band, with a gain of 1. */
function lowPass(factor: number): Float64Array {
  const reach = CROSSINGS * factor
  const kernel = Float64Array.from({ length: 2 * reach + 1 }, (_, i) => {
    const x = ((i - reach) / factor) * 0.95
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
    return sinc * (0.5 + 0.5 * Math.cos((Math.PI * (i - reach)) / (reach + 1)))
  })
  const sum = kernel.reduce((total, value) => total + value, 0)
  return kernel.map((value) => value / sum)
}
