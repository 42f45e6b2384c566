/** Tones are measured in sound of 4 kHz. */
export const LOW_RATE = 4000
/** They are measured over segments, so short that some lie inside a pause. */
export const SEGMENT_SEC = 0.1
export const SEGMENT_SAMPLES = SEGMENT_SEC * LOW_RATE

/** A tone of a constant frequency: its complex amplitude in each segment. */
export interface Tone {
  readonly hz: number
  readonly re: Float64Array
  readonly im: Float64Array
}

/** A Hann window keeps the other harmonics out. */
const WINDOW = Float64Array.from(
  { length: SEGMENT_SAMPLES },
  (_, i) => (1 - Math.cos((2 * Math.PI * (i + 0.5)) / SEGMENT_SAMPLES)) / SEGMENT_SAMPLES,
)

/** Measures a tone in each segment. @param low sound at {@link LOW_RATE} */
export function measureTone(low: Float32Array, hz: number): Tone {
  const segments = Math.floor(low.length / SEGMENT_SAMPLES)
  const re = new Float64Array(segments)
  const im = new Float64Array(segments)
  const step = (2 * Math.PI * hz) / LOW_RATE
  const [stepRe, stepIm] = [Math.cos(step), Math.sin(step)]
  for (let m = 0; m < segments; m++) {
    const start = m * SEGMENT_SAMPLES
    let [phaseRe, phaseIm, sumRe, sumIm] = [Math.cos(step * start), Math.sin(step * start), 0, 0]
    for (let i = 0; i < SEGMENT_SAMPLES; i++) {
      const value = (WINDOW[i] ?? 0) * (low[start + i] ?? 0)
      sumRe += value * phaseRe
      sumIm -= value * phaseIm
      const turned = phaseRe * stepRe - phaseIm * stepIm
      phaseIm = phaseRe * stepIm + phaseIm * stepRe
      phaseRe = turned
    }
    re[m] = sumRe
    im[m] = sumIm
  }
  return { hz, re, im }
}

/**
 * How far the phase of a tone turns over `lag` segments, and how coherently it does so. The coherence of a pure tone is
 * 1. The power is the mean of the coherent part.
 *
 * @param weights how much each segment counts
 */
export function phaseTurn({ re, im }: Tone, weights: Float64Array, lag: number) {
  let [turnRe, turnIm, sizes, sum] = [0, 0, 1e-30, 1e-30]
  for (let m = lag; m < re.length; m++) {
    const aRe = re[m] as number
    const aIm = im[m] as number
    const bRe = re[m - lag] as number
    const bIm = im[m - lag] as number
    const weight = (weights[m] ?? 0) * (weights[m - lag] ?? 0)
    turnRe += weight * (aRe * bRe + aIm * bIm)
    turnIm += weight * (aIm * bRe - aRe * bIm)
    sizes += weight * Math.hypot(aRe, aIm) * Math.hypot(bRe, bIm)
    sum += weight
  }
  const size = Math.hypot(turnRe, turnIm)
  return { angle: Math.atan2(turnIm, turnRe), size, coherence: size / sizes, power: size / sum }
}
