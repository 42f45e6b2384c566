import FFT from 'fft.js'

/** The similarity of two signals at each lag. */
interface Correlation {
  /** `values[i]` belongs to lag `i - maxLag`. Normalised to -1 … 1; 0 if one of the two is silent. */
  readonly values: Float64Array
  readonly maxLag: number
}

/** A part with a smaller share of the signal's energy is silent: rounding errors of the transform are as great. */
const LEAST_SHARE = 1e-10

/**
 * Normalised cross-correlation by FFT of a reference with the signal to search. The signal begins `maxLag` samples
 * before the reference and should end as many after it; missing samples count as silence. Each lag is normalised by the
 * energy of the part it covers, so that loud neighbours do not move the peak.
 */
export function correlate(reference: Float64Array, signal: Float64Array, maxLag: number): Correlation {
  const lags = 2 * maxLag + 1
  const products = slidingProducts(reference, signal, lags)
  const referenceEnergy = energyOf(reference)
  const leastCovered = LEAST_SHARE * energyOf(signal)
  const values = new Float64Array(lags)
  let covered = energyOf(signal.subarray(0, reference.length))
  for (let index = 0; index < lags; index++) {
    const norm = Math.sqrt(referenceEnergy * Math.max(covered, 0))
    values[index] = norm > 1e-9 && covered >= leastCovered ? (products[index] as number) / norm : 0
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

/** A loop, as everywhere here: callbacks box each number, and the garbage costs more than the calculation. */
function magnitudes(values: Float64Array): Float64Array {
  const out = new Float64Array(values.length)
  for (let index = 0; index < values.length; index++) out[index] = Math.abs(values[index] as number)
  return out
}

/** How far a peak may be below the greatest value and still be equal. Periodic audio fits at every period. */
const SAME_PEAK = 0.005

/**
 * Like {@link peakOf} for waveforms, for which an inverted polarity is the same audio. Among several equal peaks (a tone
 * fits at every period) it takes the one nearest a given lag.
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
export function energyOf(signal: Float32Array | Float64Array): number {
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
    const re = spectrum[at] as number
    const im = spectrum[at + 1] as number
    const otherRe = other[at] as number
    const otherIm = other[at + 1] as number
    spectrum[at] = re * otherRe + im * otherIm
    spectrum[at + 1] = im * otherRe - re * otherIm
  }
  fft.inverseTransform(other, spectrum)
  const products = new Float64Array(count)
  for (let index = 0; index < count; index++) products[index] = other[2 * index] as number
  return products
}

function transform(fft: FFT, padded: Float64Array, signal: Float64Array, out: Float64Array): void {
  padded.set(signal)
  padded.fill(0, signal.length)
  fft.realTransform(out, padded)
  fft.completeSpectrum(out)
}

interface Workbench {
  readonly fft: FFT
  readonly padded: Float64Array
  readonly spectrum: Float64Array
  readonly other: Float64Array
}

/** Weak, because verification needs the memory once everything is aligned. */
const workbenches = new Map<number, WeakRef<Workbench>>()

/**
 * Tables and arrays of a transform, cached per size (there are a handful). Sine tables cost more than a transform, and
 * new arrays would be most of an alignment's memory. No code awaits while it uses one.
 */
function workbenchOf(length: number): Workbench {
  const size = 2 ** Math.ceil(Math.log2(Math.max(length, 4)))
  const known = workbenches.get(size)?.deref()
  if (known) return known
  const complex = () => new Float64Array(2 * size)
  const made = { fft: new FFT(size), padded: new Float64Array(size), spectrum: complex(), other: complex() }
  workbenches.set(size, new WeakRef(made))
  return made
}

const square = (value: number | undefined) => (value === undefined ? 0 : value * value)
