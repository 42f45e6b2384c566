/** Zero crossings of the sinc to each side, at the lower rate. */
const CROSSINGS = 24

/**
 * To a rate lower by a whole factor, band-limited, in place to the sample.
 *
 * @param crossings zero crossings of the sinc to each side: fewer are faster, and leave less of the upper band
 */
export function decimate(samples: Float32Array, factor: number, crossings = CROSSINGS): Float32Array {
  if (factor === 1) return samples
  const kernel = lowPass(factor, crossings)
  const reach = (kernel.length - 1) / 2
  // Silence on both sides spares the loop a look at the ends.
  const padded = new Float32Array(samples.length + 2 * reach + factor)
  padded.set(samples, reach)
  const out = new Float32Array(Math.ceil(samples.length / factor))
  for (let i = 0; i < out.length; i++) {
    const middle = i * factor + reach
    // The kernel is symmetric: one multiplication for two samples.
    let sum = (padded[middle] ?? 0) * (kernel[reach] ?? 0)
    for (let k = 1; k <= reach; k++)
      sum += ((padded[middle - k] ?? 0) + (padded[middle + k] ?? 0)) * (kernel[reach + k] ?? 0)
    out[i] = sum
  }
  return out
}

/** Back to a rate higher by a whole factor: `length` samples. */
export function interpolate(samples: Float32Array, factor: number, length: number): Float32Array {
  if (factor === 1) return samples.slice(0, length)
  const kernel = lowPass(factor, CROSSINGS)
  const reach = (kernel.length - 1) / 2
  const padded = new Float32Array(Math.ceil(length / factor) + 2 * CROSSINGS + 2)
  padded.set(samples.subarray(0, padded.length - CROSSINGS), CROSSINGS)
  // Each place between two samples has its own weights, in the order of the samples they apply to.
  const weights = Array.from({ length: factor }, (_, phase) =>
    Float64Array.from(
      { length: 2 * CROSSINGS + (phase === 0 ? 1 : 0) },
      (_, k) => factor * (kernel[reach + phase + (CROSSINGS - (phase === 0 ? 0 : 1) - k) * factor] ?? 0),
    ),
  )
  const out = new Float32Array(length)
  for (const [phase, weight] of weights.entries()) {
    for (let i = phase, first = phase === 0 ? 0 : 1; i < length; i += factor, first++) {
      let sum = 0
      for (let k = 0; k < weight.length; k++) sum += (padded[first + k] ?? 0) * (weight[k] ?? 0)
      out[i] = sum
    }
  }
  return out
}

/** A windowed sinc that ends at 95 % of the lower rate's band, with a gain of 1. */
function lowPass(factor: number, crossings: number): Float64Array {
  const reach = crossings * factor
  const kernel = Float64Array.from({ length: 2 * reach + 1 }, (_, i) => {
    const x = ((i - reach) / factor) * 0.95
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
    return sinc * (0.5 + 0.5 * Math.cos((Math.PI * (i - reach)) / (reach + 1)))
  })
  const sum = kernel.reduce((total, value) => total + value, 0)
  return kernel.map((value) => value / sum)
}
