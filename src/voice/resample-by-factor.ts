/** Zero crossings of the sinc to each side, at the lower rate. */
const CROSSINGS = 24

/** To a rate lower by a whole factor, band-limited, in place to the sample. */
export function decimate(samples: Float32Array, factor: number): Float32Array {
  if (factor === 1) return samples
  const kernel = lowPass(factor)
  const reach = (kernel.length - 1) / 2
  return Float32Array.from({ length: Math.ceil(samples.length / factor) }, (_, i) => {
    let sum = 0
    for (let k = -reach; k <= reach; k++) sum += (samples[i * factor + k] ?? 0) * (kernel[k + reach] ?? 0)
    return sum
  })
}

/** Back to a rate higher by a whole factor: `length` samples. */
export function interpolate(samples: Float32Array, factor: number, length: number): Float32Array {
  if (factor === 1) return samples.slice(0, length)
  const kernel = lowPass(factor)
  const reach = (kernel.length - 1) / 2
  return Float32Array.from({ length }, (_, i) => {
    let sum = 0
    for (let k = Math.ceil((i - reach) / factor); k * factor <= i + reach; k++) {
      sum += (samples[k] ?? 0) * (kernel[i - k * factor + reach] ?? 0) * factor
    }
    return sum
  })
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
