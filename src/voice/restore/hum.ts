import { decimate } from '../resample-by-factor.js'

const SAMPLE_RATE = 48_000
/** The harmonics lie in the lowest 2 kHz, so they are measured at 4 kHz. */
const FACTOR = 12
const LOW_RATE = SAMPLE_RATE / FACTOR
const HIGHEST_HZ = 1200
const MAINS_HZ = [50, 60] as const

/** Amplitudes are measured over segments, so short that some lie inside a pause. */
const SEGMENT_SEC = 0.1
/** They are smoothed over about so many to both sides, and over the reach if no pause is nearer. */
const SMOOTH_SEGMENTS = 7
const REACH_SEGMENTS = 40
const FAR_WEIGHT = 1e-3
const SEGMENT_SAMPLES = SEGMENT_SEC * LOW_RATE
/** Shorter sound does not show that a tone is steady. */
const LEAST_SEGMENTS = 40
/** Coherence from which on a tone is steady: 1 for mains, about 0.3 for noise and voice. */
const STEADY = 0.8
/** At least so many harmonics are steady. A single tone may be music. */
const LEAST_HARMONICS = 2
/** Distances over which the phase is compared, in segments. The far ones measure the frequency more finely. */
const NEAR_LAGS = [1, 2, 3, 4]
const FAR_LAGS = Array.from({ length: 28 }, (_, i) => 5 + i)
/** The mains stay this near to their nominal frequency. */
const MOST_OFFSET_HZ = 0.5
/** Weaker lines, 30 dB under the strongest, may be traces of another tone. */
const LEAST_LINE = 1e-3
/** Hum more than 45 dB under the sound, or under −85 dBFS, is left. */
const LEAST_SHARE = 10 ** -4.5
const LEAST_POWER = 10 ** -8.5

/** A mains hum in one channel. */
export interface Hum {
  /** Its fundamental, measured. */
  readonly frequencyHz: number
  /** Mean square of all its harmonics. */
  readonly power: number
  /** The hum itself: the channel's length, in its place. Subtract it. */
  readonly samples: Float32Array<ArrayBuffer>
}

/**
 * Finds the hum of the mains with its harmonics, if it is there. Each harmonic is a narrow notch that follows its
 * frequency, its level and its phase. The level is measured mostly in pauses, so that the voice stays.
 *
 * @param channel 48 kHz
 */
export function findHum(channel: Float32Array): Hum | undefined {
  if (channel.length < LEAST_SEGMENTS * SEGMENT_SEC * SAMPLE_RATE) return undefined
  const low = decimate(channel, FACTOR)
  const segments = Math.floor(low.length / SEGMENT_SAMPLES)
  const powers = Float64Array.from({ length: segments }, (_, m) => meanSquare(segmentOf(low, m)))
  const total = powers.reduce((sum, power) => sum + power, 0) / segments
  if (total < LEAST_POWER) return undefined
  const weights = weightsOf(powers)
  const found = MAINS_HZ.map((nominalHz) => linesOf(low, nominalHz, weights)).sort((a, b) => b.power - a.power)[0]
  if (!found || found.lines.length < LEAST_HARMONICS) return undefined
  if (found.power < Math.max(LEAST_POWER, LEAST_SHARE * total)) return undefined
  const samples = new Float32Array(channel.length)
  const [lowest] = found.lines
  const drift = lowest ? driftOf(lowest, weights) : []
  for (const line of found.lines) addLine(samples, line, { drift, weights })
  return { frequencyHz: found.frequencyHz, power: found.power, samples }
}

/** One harmonic: its frequency, and its complex amplitude in each segment. */
interface Line {
  readonly hz: number
  readonly re: Float64Array
  readonly im: Float64Array
}

/** Quiet segments show the hum without the voice, so they count most. */
function weightsOf(powers: Float64Array): Float64Array {
  const floor = (Float64Array.from(powers).sort()[Math.floor(powers.length / 20)] ?? 0) + 1e-12
  return powers.map((power) => (floor / Math.max(floor, power)) ** 2)
}

function linesOf(low: Float32Array, nominalHz: number, weights: Float64Array) {
  const offsetHz = offsetOf(low, nominalHz, weights)
  const frequencyHz = nominalHz + offsetHz
  const steady: { line: Line; power: number }[] = []
  if (Math.abs(offsetHz) > MOST_OFFSET_HZ) return { frequencyHz, lines: [], power: 0 }
  for (let harmonic = 1; harmonic * frequencyHz < HIGHEST_HZ; harmonic++) {
    // Hum has its lowest harmonics: without them, the rest need not be measured.
    if (harmonic > 3 && steady.length === 0) break
    const line = measureLine(low, harmonic * frequencyHz)
    const { coherence, power } = turnOf(line, weights, 1)
    if (coherence >= STEADY) steady.push({ line, power: 2 * power })
  }
  const strongest = Math.max(...steady.map(({ power }) => power))
  const kept = steady.filter(({ power }) => power > LEAST_LINE * strongest)
  return { frequencyHz, lines: kept.map(({ line }) => line), power: kept.reduce((sum, { power }) => sum + power, 0) }
}

/** How far the mains are from their nominal frequency, by how fast the phases of three harmonics turn. */
function offsetOf(low: Float32Array, nominalHz: number, weights: Float64Array): number {
  const lines = [1, 2, 3].map((harmonic) => ({ harmonic, line: measureLine(low, harmonic * nominalHz) }))
  const refined = (offset: number, lags: readonly number[], most: number): number => {
    let sum = 0
    let sizes = 1e-300
    for (const lag of lags) {
      for (const { harmonic, line } of lines.slice(0, most)) {
        const { angle, size } = turnOf(line, weights, lag)
        const turns = 2 * Math.PI * lag * SEGMENT_SEC * harmonic
        const rest = angle - turns * offset
        sum += size * turns * (rest - 2 * Math.PI * Math.round(rest / (2 * Math.PI)))
        sizes += size * turns * turns
      }
    }
    return offset + sum / sizes
  }
  // A phase is only known up to whole turns, and a high harmonic turns most: it refines what the low ones found.
  const near = refined(refined(0, [1], 1), NEAR_LAGS, 3)
  return refined(refined(refined(near, FAR_LAGS, 1), FAR_LAGS, 2), FAR_LAGS, 3)
}

/** How far a phase turns over `lag` segments, how coherently it does so, and the mean power of the coherent part. */
function turnOf({ re, im }: Line, weights: Float64Array, lag: number) {
  let [turnRe, turnIm, sizes, sum] = [0, 0, 1e-30, 1e-30]
  for (let m = lag; m < re.length; m++) {
    const [aRe = 0, aIm = 0, bRe = 0, bIm = 0] = [re[m], im[m], re[m - lag], im[m - lag]]
    const weight = (weights[m] ?? 0) * (weights[m - lag] ?? 0)
    turnRe += weight * (aRe * bRe + aIm * bIm)
    turnIm += weight * (aIm * bRe - aRe * bIm)
    sizes += weight * Math.hypot(aRe, aIm) * Math.hypot(bRe, bIm)
    sum += weight
  }
  const size = Math.hypot(turnRe, turnIm)
  return { angle: Math.atan2(turnIm, turnRe), size, coherence: size / sizes, power: size / sum }
}

/** How the phase of the mains wanders: radians for each Hz of a harmonic, segment by segment. */
function driftOf({ hz, re, im }: Line, weights: Float64Array): number[] {
  const [smoothRe, smoothIm] = [smoothed(re, weights), smoothed(im, weights)]
  let radians = 0
  return Array.from(smoothRe, (_, m) => {
    const [aRe = 0, aIm = 0, bRe = 0, bIm = 0] = [smoothRe[m], smoothIm[m], smoothRe[m - 1], smoothIm[m - 1]]
    if (m > 0) radians += Math.atan2(aIm * bRe - aRe * bIm, aRe * bRe + aIm * bIm)
    return radians / hz
  })
}

function turned(re: Float64Array, im: Float64Array, angles: readonly number[], sign: 1 | -1) {
  const outRe = re.map((value, m) => value * Math.cos(angles[m] ?? 0) - sign * (im[m] ?? 0) * Math.sin(angles[m] ?? 0))
  const outIm = im.map((value, m) => value * Math.cos(angles[m] ?? 0) + sign * (re[m] ?? 0) * Math.sin(angles[m] ?? 0))
  return [outRe, outIm] as const
}

/** A Hann window keeps the other harmonics out. */
const WINDOW = Float64Array.from(
  { length: SEGMENT_SAMPLES },
  (_, i) => (1 - Math.cos((2 * Math.PI * (i + 0.5)) / SEGMENT_SAMPLES)) / SEGMENT_SAMPLES,
)

function measureLine(low: Float32Array, hz: number): Line {
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

/** Adds a harmonic. Its amplitude is smoothed with the weights of the segments, and runs straight between them. */
function addLine(
  samples: Float32Array,
  { hz, re, im }: Line,
  { drift, weights }: { readonly drift: readonly number[]; readonly weights: Float64Array },
): void {
  const angles = drift.map((radians) => radians * hz)
  const [steadyRe, steadyIm] = turned(re, im, angles, -1)
  const [smoothRe, smoothIm] = turned(smoothed(steadyRe, weights), smoothed(steadyIm, weights), angles, 1)
  const step = (2 * Math.PI * hz) / SAMPLE_RATE
  const [stepRe, stepIm] = [Math.cos(step), Math.sin(step)]
  const length = SEGMENT_SAMPLES * FACTOR
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

function segmentOf(low: Float32Array, m: number): Float32Array {
  return low.subarray(m * SEGMENT_SAMPLES, (m + 1) * SEGMENT_SAMPLES)
}

function meanSquare(values: Float32Array): number {
  return values.reduce((sum, value) => sum + value * value, 0) / values.length
}
