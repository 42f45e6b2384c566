import { type Clipping, isCut } from './clipping.js'

/** Frames in which the spectrum of a voice is steady, at 48 kHz. */
const FRAME_SAMPLES = 2048
const HOP_SAMPLES = 1024
/** Order of the prediction. */
const ORDER = 48
const ROUNDS = 4
/** Restored peaks reach at most so far above the level at which they were cut. */
const MOST_GAIN = 4

/**
 * Predicts the peaks of a clipped channel from both sides. Each frame is predicted from its own past (autoregression),
 * and the lost samples are those with the smallest prediction error (Janssen, Veldhuis and Vries, 1986). A restored
 * sample never lies inside the level at which it was cut. All other samples stay.
 *
 * @param channel 48 kHz
 */
export function predictPeaks(channel: Float32Array, clipping: Clipping): Float32Array<ArrayBuffer> {
  const restored = new Float32Array(channel)
  for (let start = 0; start < channel.length; start += HOP_SAMPLES) {
    const from = Math.max(0, start - (FRAME_SAMPLES - HOP_SAMPLES) / 2)
    const given = channel.subarray(from, from + FRAME_SAMPLES)
    const lost: number[] = []
    for (let i = 0; i < given.length; i++) if (isCut(given[i] ?? 0, clipping)) lost.push(i)
    const isInside = lost.some((i) => from + i >= start && from + i < start + HOP_SAMPLES)
    if (!isInside || given.length < 4 * ORDER) continue
    const frame = restoreFrame(given, lost)
    for (const i of lost) {
      if (from + i >= start && from + i < start + HOP_SAMPLES) restored[from + i] = frame[i] ?? 0
    }
  }
  return restored
}

function restoreFrame(given: Float32Array, lost: readonly number[]): Float64Array {
  const frame = Float64Array.from(given)
  for (let round = 0; round < ROUNDS; round++) {
    const error = correlation(predictor(frame))
    const solved = solveLost(frame, lost, error)
    for (const [k, i] of lost.entries()) {
      const cut = given[i] ?? 0
      const size = Math.min(MOST_GAIN * Math.abs(cut), Math.max(Math.abs(cut), Math.sign(cut) * (solved[k] ?? 0)))
      frame[i] = Math.sign(cut) * size
    }
  }
  return frame
}

/** The prediction error filter of a frame, by Levinson's recursion: `[1, a₁ … a_order]`. */
function predictor(frame: Float64Array): Float64Array {
  const windowed = frame.map((value, i) => value * (0.5 - 0.5 * Math.cos((2 * Math.PI * (i + 0.5)) / frame.length)))
  const r = correlation(windowed)
  // A trace of white noise keeps the recursion stable.
  let error = (r[0] ?? 0) * (1 + 1e-9) + 1e-12
  const a = new Float64Array(ORDER + 1)
  a[0] = 1
  for (let m = 1; m <= ORDER; m++) {
    let sum = 0
    for (let i = 0; i < m; i++) sum += (a[i] ?? 0) * (r[m - i] ?? 0)
    const k = -sum / error
    const before = a.slice(0, m)
    for (let i = 1; i <= m; i++) a[i] = (i < m ? (before[i] ?? 0) : 0) + k * (before[m - i] ?? 0)
    error *= 1 - k * k
  }
  return a
}

/** `Σ x[i] x[i + lag]` for each lag up to {@link ORDER}. */
function correlation(x: Float64Array): Float64Array {
  return Float64Array.from({ length: ORDER + 1 }, (_, lag) => {
    let sum = 0
    for (let i = 0; i + lag < x.length; i++) sum += (x[i] ?? 0) * (x[i + lag] ?? 0)
    return sum
  })
}

/** A row of a triangular matrix: the values from column `first` on, up to the diagonal. Those before are zero. */
interface BandRow {
  readonly first: number
  readonly values: Float64Array
}

/**
 * Values of the lost samples with the least prediction error. Samples further apart than the order do not touch, so the
 * equations form a band, which Cholesky's method solves in one sweep.
 *
 * @param b correlation of the prediction error filter
 */
function solveLost(frame: Float64Array, lost: readonly number[], b: Float64Array): Float64Array {
  const rows = factorsOf(lost, b)
  const solved = knownShares(frame, lost, b)
  for (const [k, { first, values }] of rows.entries()) {
    for (let i = first; i < k; i++) solved[k] = (solved[k] ?? 0) - (values[i - first] ?? 0) * (solved[i] ?? 0)
    solved[k] = (solved[k] ?? 0) / (values[k - first] ?? 1)
  }
  for (const [k, { first, values }] of [...rows.entries()].reverse()) {
    solved[k] = (solved[k] ?? 0) / (values[k - first] ?? 1)
    for (let i = first; i < k; i++) solved[i] = (solved[i] ?? 0) - (values[i - first] ?? 0) * (solved[k] ?? 0)
  }
  return solved
}

/** The share of an equation that the samples around a lost one give, without those that are lost too. */
function knownShares(frame: Float64Array, lost: readonly number[], b: Float64Array): Float64Array {
  const isLost = new Set(lost)
  return Float64Array.from(lost, (place) => {
    let share = 0
    for (let lag = -ORDER; lag <= ORDER; lag++) {
      const at = place + lag
      if (at >= 0 && at < frame.length && !isLost.has(at)) share -= (b[Math.abs(lag)] ?? 0) * (frame[at] ?? 0)
    }
    return share
  })
}

/** The rows of Cholesky's factor of the equations. */
function factorsOf(lost: readonly number[], b: Float64Array): readonly BandRow[] {
  const rows: BandRow[] = []
  for (const [k, place] of lost.entries()) {
    let first = k
    while (first > 0 && place - (lost[first - 1] ?? 0) <= ORDER) first--
    const row = { first, values: new Float64Array(k - first + 1) }
    rows.push(row)
    for (let j = first; j <= k; j++) {
      const other = rows[j] ?? row
      let sum = b[place - (lost[j] ?? 0)] ?? 0
      for (let i = Math.max(first, other.first); i < j; i++)
        sum -= (row.values[i - first] ?? 0) * (other.values[i - other.first] ?? 0)
      row.values[j - first] = j === k ? Math.sqrt(Math.max(sum, 1e-12)) : sum / (other.values[j - other.first] ?? 1)
    }
  }
  return rows
}
