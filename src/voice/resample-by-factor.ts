/** Zero crossings of the sinc to each side, at the lower rate. */
const CROSSINGS = 24

/** So many samples are computed side by side, because each sum waits for its last addition. */
const AT_ONCE = 4

/**
 * To a rate lower by a whole factor, band-limited, in place to the sample.
 *
 * @param crossings zero crossings of the sinc to each side: fewer are faster, and leave less of the upper band
 */
export function decimate(samples: Float32Array, factor: number, crossings = CROSSINGS): Float32Array {
  if (factor === 1) return samples
  const kernel = lowPass(factor, crossings)
  const reach = (kernel.length - 1) / 2
  const taps = kernel.subarray(reach)
  const length = Math.ceil(samples.length / factor)
  const out = new Float32Array(Math.ceil(length / AT_ONCE) * AT_ONCE)
  // Silence on both sides spares the loop a look at the ends.
  const padded = new Float32Array(out.length * factor + 2 * reach + factor)
  padded.set(samples, reach)
  for (let i = 0; i < out.length; i += AT_ONCE) {
    const at = i * factor + reach
    const middle = taps[0] ?? 0
    let a = (padded[at] ?? 0) * middle
    let b = (padded[at + factor] ?? 0) * middle
    let c = (padded[at + 2 * factor] ?? 0) * middle
    let d = (padded[at + 3 * factor] ?? 0) * middle
    // The kernel is symmetric: one multiplication for two samples.
    for (let k = 1, left = at - 1, right = at + 1; k <= reach; k++, left--, right++) {
      const tap = taps[k] ?? 0
      a += ((padded[left] ?? 0) + (padded[right] ?? 0)) * tap
      b += ((padded[left + factor] ?? 0) + (padded[right + factor] ?? 0)) * tap
      c += ((padded[left + 2 * factor] ?? 0) + (padded[right + 2 * factor] ?? 0)) * tap
      d += ((padded[left + 3 * factor] ?? 0) + (padded[right + 3 * factor] ?? 0)) * tap
    }
    out[i] = a
    out[i + 1] = b
    out[i + 2] = c
    out[i + 3] = d
  }
  return out.slice(0, length)
}

/** Back to a rate higher by a whole factor: `length` samples. */
export function interpolate(samples: Float32Array, factor: number, length: number): Float32Array {
  if (factor === 1) return samples.slice(0, length)
  const kernel = lowPass(factor, CROSSINGS)
  const reach = (kernel.length - 1) / 2
  const count = Math.ceil(length / factor / AT_ONCE) * AT_ONCE
  const padded = new Float32Array(count + 2 * CROSSINGS + 2)
  padded.set(samples.subarray(0, padded.length - CROSSINGS), CROSSINGS)
  // Each place between two samples has its own weights, in the order of the samples they apply to.
  const weights = Array.from({ length: factor }, (_, phase) =>
    Float64Array.from(
      { length: 2 * CROSSINGS + (phase === 0 ? 1 : 0) },
      (_, k) => factor * (kernel[reach + phase + (CROSSINGS - (phase === 0 ? 0 : 1) - k) * factor] ?? 0),
    ),
  )
  const out = new Float32Array(count * factor)
  for (const [phase, weight] of weights.entries()) {
    for (let i = phase, first = phase === 0 ? 0 : 1; i < out.length; i += AT_ONCE * factor, first += AT_ONCE) {
      let [a, b, c, d] = [0, 0, 0, 0]
      for (let k = 0, at = first; k < weight.length; k++, at++) {
        const tap = weight[k] ?? 0
        a += (padded[at] ?? 0) * tap
        b += (padded[at + 1] ?? 0) * tap
        c += (padded[at + 2] ?? 0) * tap
        d += (padded[at + 3] ?? 0) * tap
      }
      out[i] = a
      out[i + factor] = b
      out[i + 2 * factor] = c
      out[i + 3 * factor] = d
    }
  }
  return out.slice(0, length)
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
