import { LOW_RATE, SEGMENT_SAMPLES, type Tone } from './tone.js'

/** Amplitudes are smoothed over about so many segments to both sides, and over the reach if no pause is nearer. */
const SMOOTH_SEGMENTS = 7
const REACH_SEGMENTS = 40
const FAR_WEIGHT = 1e-3

/**
 * Adds up tones with a common drift of their frequency, which the lowest shows. Each amplitude is smoothed over the
 * segments.
 *
 * @param weights how much each segment counts
 * @param factor samples of the result for each sample in which the tones were measured
 */
export function sumOfTones(
  tones: readonly Tone[],
  weights: Float64Array,
  { length, factor }: { readonly length: number; readonly factor: number },
): Float32Array<ArrayBuffer> {
  const samples = new Float32Array(length)
  const [lowest] = tones
  const drift = lowest ? driftOf(lowest, weights) : []
  for (const tone of tones) addTone(samples, tone, { drift, weights, factor })
  return samples
}

/** How the phase wanders: radians for each Hz of a harmonic, segment by segment. */
function driftOf({ hz, re, im }: Tone, weights: Float64Array): number[] {
  const [smoothRe, smoothIm] = [smoothed(re, weights), smoothed(im, weights)]
  let radians = 0
  return Array.from(smoothRe, (_, m) => {
    const [aRe = 0, aIm = 0, bRe = 0, bIm = 0] = [smoothRe[m], smoothIm[m], smoothRe[m - 1], smoothIm[m - 1]]
    if (m > 0) radians += Math.atan2(aIm * bRe - aRe * bIm, aRe * bRe + aIm * bIm)
    return radians / hz
  })
}

/** Adds a tone, whose amplitude runs straight from one segment to the next. */
function addTone(
  samples: Float32Array,
  { hz, re, im }: Tone,
  {
    drift,
    weights,
    factor,
  }: { readonly drift: readonly number[]; readonly weights: Float64Array; readonly factor: number },
): void {
  const angles = drift.map((radians) => radians * hz)
  const [steadyRe, steadyIm] = turned(re, im, angles, -1)
  const [smoothRe, smoothIm] = turned(smoothed(steadyRe, weights), smoothed(steadyIm, weights), angles, 1)
  const step = (2 * Math.PI * hz) / (LOW_RATE * factor)
  const [stepRe, stepIm] = [Math.cos(step), Math.sin(step)]
  const length = SEGMENT_SAMPLES * factor
  const last = re.length - 1
  let [phaseRe, phaseIm] = [1, 0]
  for (let i = 0; i < samples.length; i++) {
    // The recurrence loses a digit in a thousand steps.
    if (i % 4096 === 0) [phaseRe, phaseIm] = [Math.cos(step * i), Math.sin(step * i)]
    const at = Math.min(last, Math.max(0, i / length - 0.5))
    const m = Math.floor(at)
    const next = Math.min(last, m + 1)
    const a = (smoothRe[m] ?? 0) + (at - m) * ((smoothRe[next] ?? 0) - (smoothRe[m] ?? 0))
    const b = (smoothIm[m] ?? 0) + (at - m) * ((smoothIm[next] ?? 0) - (smoothIm[m] ?? 0))
    samples[i] = (samples[i] ?? 0) + 2 * (a * phaseRe - b * phaseIm)
    const turned = phaseRe * stepRe - phaseIm * stepIm
    phaseIm = phaseRe * stepIm + phaseIm * stepRe
    phaseRe = turned
  }
}

function turned(re: Float64Array, im: Float64Array, angles: readonly number[], sign: 1 | -1) {
  const outRe = re.map((value, m) => value * Math.cos(angles[m] ?? 0) - sign * (im[m] ?? 0) * Math.sin(angles[m] ?? 0))
  const outIm = im.map((value, m) => value * Math.cos(angles[m] ?? 0) + sign * (re[m] ?? 0) * Math.sin(angles[m] ?? 0))
  return [outRe, outIm] as const
}

const NEARNESS = Float64Array.from(
  { length: REACH_SEGMENTS + 1 },
  (_, distance) => Math.exp(-((distance / SMOOTH_SEGMENTS) ** 2)) + FAR_WEIGHT,
)

function smoothed(values: Float64Array, weights: Float64Array): Float64Array {
  return values.map((_, m) => {
    let sum = 0
    let all = 1e-30
    for (let k = Math.max(0, m - REACH_SEGMENTS); k <= Math.min(values.length - 1, m + REACH_SEGMENTS); k++) {
      const weight = (NEARNESS[Math.abs(k - m)] ?? 0) * (weights[k] ?? 0)
      sum += weight * (values[k] ?? 0)
      all += weight
    }
    return sum / all
  })
}
