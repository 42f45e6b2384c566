import FFT from 'fft.js'

/** How two signals resemble each other at each lag. */
export interface Correlation {
  /** `values[i]` belongs to lag `i - maxLag`; normalised: -1 … 1, 0 where one of the two is silent. */
  readonly values: Float64Array
  readonly maxLag: number
}

/**
 * Normalised cross-correlation of a reference with a signal in which it is sought, by FFT. The signal begins
 * `maxLag` samples before the reference does and should end as many after it; what it lacks counts as silence.
 * Each lag is normalised by the energy of just the part of the signal it covers, so that a loud neighbourhood does
 * not draw the peak.
 */
export function correlate(reference: Float64Array, signal: Float64Array, maxLag: number): Correlation {
  const lags = 2 * maxLag + 1
  const products = slidingProducts(reference, signal, lags)
  const referenceEnergy = energyOf(reference)
  const values = new Float64Array(lags)
  let covered = energyOf(signal.subarray(0, reference.length))
  for (let index = 0; index < lags; index++) {
    const norm = Math.sqrt(referenceEnergy * Math.max(covered, 0))
    values[index] = norm > 1e-9 ? (products[index] as number) / norm : 0
    covered += square(signal[index + reference.length]) - square(signal[index])
  }
  return { values, maxLag }
}

/** The lag of the greatest value, and that value. */
export function peakOf({ values, maxLag }: Correlation): { lag: number; match: number } {
  let best = maxLag
  for (let index = 0; index < values.length; index++) {
    if ((values[index] as number) > (values[best] as number)) best = index
  }
  return { lag: best - maxLag, match: values[best] as number }
}

/** A loop, as everywhere here: callbacks box each number, and what they leave behind costs more than the work. */
function magnitudes(values: Float64Array): Float64Array {
  const out = new Float64Array(values.length)
  for (let index = 0; index < values.length; index++) out[index] = Math.abs(values[index] as number)
  return out
}

/** How far below the greatest value a peak may stay that means the same: what repeats fits at every period. */
const SAME_PEAK = 0.005

/**
 * Like {@link peakOf} for waveforms, where an inverted polarity is the same sound; of several peaks as high (a tone fits at
 * every period) the one nearest a lag.
 */
export function nearestWaveformPeak({ values, maxLag }: Correlation, expected: number): { lag: number; match: number } {
  const heights = magnitudes(values)
  const best = peakOf({ values: heights, maxLag })
  let nearest = best
  for (let index = 0; index < heights.length; index++) {
    const match = heights[index] as number
    const lag = index - maxLag
    if (match < best.match - SAME_PEAK || Math.abs(lag - expected) >= Math.abs(nearest.lag - expected)) continue
    if (match >= (heights[index - 1] ?? 0) && match >= (heights[index + 1] ?? 0)) nearest = { lag, match }
  }
  return nearest
}

/** Sum of squares. */
export function energyOf(signal: Float64Array): number {
  let sum = 0
  for (let index = 0; index < signal.length; index++) sum += (signal[index] as number) ** 2
  return sum
}

/** `result[k] = Σ reference[n] · signal[n + k]`, 0 ≤ k < count. */
function slidingProducts(reference: Float64Array, signal: Float64Array, count: number): Float64Array {
  const { fft, padded, spectrum, other } = workbenchOf(reference.length + count)
  transform(fft, padded, signal.subarray(0, reference.length + count - 1), spectrum)
  transform(fft, padded, reference, other)
  for (let at = 0; at < spectrum.length; at += 2) {
    const [re, im] = [spectrum[at] as number, spectrum[at + 1] as number]
    const [otherRe, otherIm] = [other[at] as number, other[at + 1] as number]
    spectrum[at] = re * otherRe + im * otherIm
    spectrum[at + 1] = im * otherRe - re * otherIm
  }
  fft.inverseTransform(other, spectrum)
  const products = new Float64Array(count)
  for (let index = 0; index < count; index++) products[index] = other[2 * index] as number
  return products
}

function transform(fft: FFT, padded: number[], signal: Float64Array, out: number[]): void {
  for (let index = 0; index < padded.length; index++)
    padded[index] = index < signal.length ? (signal[index] as number) : 0
  fft.realTransform(out, padded)
  fft.completeSpectrum(out)
}

interface Workbench {
  readonly fft: FFT
  readonly padded: number[]
  readonly spectrum: number[]
  readonly other: number[]
}

const workbenches = new Map<number, Workbench>()

/**
 * Tables and arrays of a transform, kept per size (there are a handful): tables of sines cost more than a transform,
 * and new arrays for each would be most of the memory that an alignment takes. Nothing is awaited while one is used.
 */
function workbenchOf(length: number): Workbench {
  const size = 2 ** Math.ceil(Math.log2(Math.max(length, 4)))
  const known = workbenches.get(size)
  if (known) return known
  const fft = new FFT(size)
  const complex = () => fft.createComplexArray() as number[]
  const made = { fft, padded: new Array<number>(size).fill(0), spectrum: complex(), other: complex() }
  workbenches.set(size, made)
  return made
}

const square = (value: number | undefined) => (value === undefined ? 0 : value * value)
