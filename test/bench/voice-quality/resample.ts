/**
 * Band-limited resampling by a windowed sinc, in place to the sample: good enough to judge on, slow, and nobody else's
 * code under test.
 */
export function resample(samples: Float32Array, fromRate: number, toRate: number): Float32Array {
  if (fromRate === toRate) return samples
  const cut = Math.min(1, toRate / fromRate)
  const half = Math.ceil(24 / cut)
  // The places between two samples repeat: their weights are found once each.
  const phases = toRate / gcd(fromRate, toRate)
  const kernels = Array.from({ length: phases }, (_, phase) => kernelAt(((phase * fromRate) / toRate) % 1, cut, half))
  return Float32Array.from({ length: Math.round((samples.length * toRate) / fromRate) }, (_, i) => {
    const kernel = kernels[i % phases] as Float64Array
    const first = Math.floor((i * fromRate) / toRate + 1e-9) - half
    let sum = 0
    const end = Math.min(kernel.length, samples.length - first)
    for (let k = Math.max(0, -first); k < end; k++) sum += (samples[first + k] as number) * (kernel[k] as number)
    return sum
  })
}

/** Weights of the samples from `half` before the place on; `fraction`: how far it lies behind a sample. */
function kernelAt(fraction: number, cut: number, half: number): Float64Array {
  return Float64Array.from({ length: 2 * half + 2 }, (_, k) => {
    const distance = fraction + half - k
    if (Math.abs(distance) > half) return 0
    const x = distance * cut
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
    return sinc * cut * (0.5 + 0.5 * Math.cos((Math.PI * distance) / half))
  })
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b)
}
