/**
 * Band-limited resampling by a windowed sinc, in place to the sample: good enough to judge on, slow, and nobody else's
 * code under test.
 */
export function resample(samples: Float32Array, fromRate: number, toRate: number): Float32Array {
  if (fromRate === toRate) return samples
  const cut = Math.min(1, toRate / fromRate)
  const half = 24 / cut
  return Float32Array.from({ length: Math.round((samples.length * toRate) / fromRate) }, (_, i) => {
    const centre = (i * fromRate) / toRate
    let sum = 0
    for (let k = Math.ceil(centre - half); k <= centre + half; k++) {
      const value = samples[k]
      if (value === undefined) continue
      const x = (centre - k) * cut
      const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
      sum += value * sinc * cut * (0.5 + 0.5 * Math.cos((Math.PI * (centre - k)) / half))
    }
    return sum
  })
}
