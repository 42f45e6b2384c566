import FFT from 'fft.js'
import { resample } from './resample.js'

const RATE = 10_000
const FRAME = 256
const HOP = 128
const SIZE = 512
const BANDS = 15
const LOWEST_HZ = 150
/** Frames of one judged segment (384 ms). */
const SEGMENT = 30
const DYNAMIC_RANGE_DB = 40
const CLIP = 1 + 10 ** (15 / 20)

/**
 * Short-time objective intelligibility, 0 … 1 (Taal, Hendriks, Heusdens, Jensen, "An algorithm for intelligibility
 * prediction of time-frequency weighted noisy speech", 2011): how well the envelopes of third-octave bands correlate.
 */
export function stoi(reference: Float32Array, estimate: Float32Array, sampleRate: number): number {
  const [clean, other] = withoutSilence(resample(reference, sampleRate, RATE), resample(estimate, sampleRate, RATE))
  const x = bandEnvelopes(clean)
  const y = bandEnvelopes(other)
  let sum = 0
  let count = 0
  for (let end = SEGMENT; end <= (x[0]?.length ?? 0); end++) {
    for (let band = 0; band < BANDS; band++) {
      const a = x[band]?.subarray(end - SEGMENT, end) ?? new Float64Array(SEGMENT)
      const b = y[band]?.subarray(end - SEGMENT, end) ?? new Float64Array(SEGMENT)
      const scale = norm(a) / (norm(b) + 1e-20)
      sum += correlation(
        a,
        b.map((value, i) => Math.min(value * scale, (a[i] ?? 0) * CLIP)),
      )
      count++
    }
  }
  return count === 0 ? 0 : sum / count
}

const WINDOW = Float64Array.from(
  { length: FRAME },
  (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (i + 1)) / (FRAME + 1)),
)

/** Both without the frames in which the reference is silent, overlapped and added anew. */
function withoutSilence(reference: Float32Array, estimate: Float32Array): [Float64Array, Float64Array] {
  const starts: number[] = []
  for (let start = 0; start + FRAME < reference.length; start += HOP) starts.push(start)
  const energies = starts.map((start) => 20 * Math.log10(norm(windowed(reference, start)) + 1e-12))
  const loudest = energies.reduce((most, energy) => Math.max(most, energy), Number.NEGATIVE_INFINITY)
  const kept = starts.filter((_, i) => (energies[i] ?? 0) > loudest - DYNAMIC_RANGE_DB)
  return [joined(reference, kept), joined(estimate, kept)]
}

function joined(samples: Float32Array, starts: readonly number[]): Float64Array {
  const out = new Float64Array(Math.max(0, (starts.length - 1) * HOP + FRAME))
  for (const [i, start] of starts.entries()) {
    for (const [k, value] of windowed(samples, start).entries()) out[i * HOP + k] = (out[i * HOP + k] ?? 0) + value
  }
  return out
}

function windowed(samples: ArrayLike<number>, start: number): Float64Array {
  return WINDOW.map((weight, i) => weight * (samples[start + i] ?? 0))
}

/** One row a band: the root of the power in a third of an octave, frame by frame. */
function bandEnvelopes(samples: Float64Array): Float64Array[] {
  const frames = Math.max(0, Math.ceil((samples.length - FRAME) / HOP))
  const fft = new FFT(SIZE)
  const spectrum = new Float64Array(2 * SIZE)
  const padded = new Float64Array(SIZE)
  const bin = (hz: number) => Math.round((hz * SIZE) / RATE)
  const edges = Array.from({ length: BANDS }, (_, band) => {
    return [bin(LOWEST_HZ * 2 ** ((2 * band - 1) / 6)), bin(LOWEST_HZ * 2 ** ((2 * band + 1) / 6))] as const
  })
  const rows = edges.map(() => new Float64Array(frames))
  for (let frame = 0; frame < frames; frame++) {
    padded.set(windowed(samples, frame * HOP))
    fft.realTransform(spectrum, padded)
    for (const [band, [from, to]] of edges.entries()) {
      let power = 0
      for (let k = from; k < to; k++) power += (spectrum[2 * k] ?? 0) ** 2 + (spectrum[2 * k + 1] ?? 0) ** 2
      const row = rows[band]
      if (row) row[frame] = Math.sqrt(power)
    }
  }
  return rows
}

function norm(values: Float64Array): number {
  return Math.sqrt(values.reduce((sum, value) => sum + value * value, 0))
}

function correlation(a: Float64Array, b: Float64Array): number {
  const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanA, meanB] = [mean(a), mean(b)]
  const da = a.map((value) => value - meanA)
  const db = b.map((value) => value - meanB)
  const product = da.reduce((sum, value, i) => sum + value * (db[i] ?? 0), 0)
  return product / (norm(da) * norm(db) + 1e-20)
}
