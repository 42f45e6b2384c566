/**
 * Scale-invariant signal-to-distortion ratio in dB: how much of the estimate is the reference, however loud
 * (Le Roux et al., "SDR – half-baked or well done?", 2019). Both of one length; means are taken out.
 */
export function siSdr(reference: Float32Array, estimate: Float32Array): number {
  const meanOf = (samples: Float32Array) => samples.reduce((sum, value) => sum + value, 0) / samples.length
  const referenceMean = meanOf(reference)
  const estimateMean = meanOf(estimate)
  let cross = 0
  let power = 0
  for (let i = 0; i < reference.length; i++) {
    const r = (reference[i] ?? 0) - referenceMean
    cross += r * ((estimate[i] ?? 0) - estimateMean)
    power += r * r
  }
  const scale = cross / power
  let error = 0
  for (let i = 0; i < reference.length; i++) {
    error += ((estimate[i] ?? 0) - estimateMean - scale * ((reference[i] ?? 0) - referenceMean)) ** 2
  }
  return 10 * Math.log10((scale * scale * power) / Math.max(error, Number.MIN_VALUE))
}
