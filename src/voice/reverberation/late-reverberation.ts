/** Which past frames predict a frame, and how often the prediction is refined. */
interface Prediction {
  /** Frames nearer than this belong to the same sound. */
  readonly delay: number
  /** Number of frames before that. */
  readonly taps: number
  readonly passes: number
}

/** The best of several for speech in rooms: frames of 24 to 112 ms ago. */
export const LATE_PREDICTION: Prediction = { delay: 3, taps: 12, passes: 2 }

/** Below −70 dB relative to the bin's mean, frames count alike. */
const LEAST_POWER = 1e-7
/** Keeps the system solvable if a bin is silent or a single tone. */
const LOADING = 1e-6

/**
 * Predicts the late reverberation of one bin from its own past by weighted prediction error. Source: Nakatani and others,
 * "Speech Dereverberation Based on Variance-Normalized Delayed Linear Prediction", 2010.
 *
 * @param bin pairs of real and imaginary part, frame by frame
 * @returns the late reverberation, frame by frame: subtract it
 */
export function predictReverberation(bin: Float64Array, { delay, taps, passes }: Prediction): Float64Array {
  const frames = bin.length / 2
  const late = new Float64Array(bin.length)
  const matrix = new Float64Array(2 * taps * taps)
  const filter = new Float64Array(2 * taps)
  const equations = { delay, taps, matrix, right: filter }
  for (let pass = 0; pass < passes; pass++) {
    const weights = weightsOf(bin, late)
    matrix.fill(0)
    filter.fill(0)
    for (let t = delay; t < frames; t++) accumulate(equations, bin, t, weights[t] ?? 0)
    let trace = 0
    for (let k = 0; k < taps; k++) trace += matrix[2 * (k * taps + k)] ?? 0
    if (trace === 0) return late
    for (let k = 0; k < taps; k++)
      matrix[2 * (k * taps + k)] = (matrix[2 * (k * taps + k)] ?? 0) + (LOADING * trace) / taps
    solveHermitian(matrix, filter, taps)
    predict(bin, filter, delay, taps, late)
  }
  return late
}

/** One over the power of what is not late reverberation, smoothed over three frames. */
function weightsOf(bin: Float64Array, late: Float64Array): Float64Array {
  const frames = bin.length / 2
  const power = new Float64Array(frames)
  let mean = 0
  for (let t = 0; t < frames; t++) {
    const re = (bin[2 * t] ?? 0) - (late[2 * t] ?? 0)
    const im = (bin[2 * t + 1] ?? 0) - (late[2 * t + 1] ?? 0)
    power[t] = re * re + im * im
    mean += (power[t] ?? 0) / frames
  }
  const floor = mean * LEAST_POWER + 1e-20
  return power.map((value, t) => 3 / ((power[t - 1] ?? value) + value + (power[t + 1] ?? value) + floor))
}

interface Equations extends Omit<Prediction, 'passes'> {
  readonly matrix: Float64Array
  readonly right: Float64Array
}

/** Adds the equation of one frame. */
function accumulate({ delay, taps, matrix, right }: Equations, bin: Float64Array, t: number, weight: number): void {
  const re = bin[2 * t] ?? 0
  const im = bin[2 * t + 1] ?? 0
  const most = Math.min(taps, t - delay + 1)
  for (let j = 0; j < most; j++) {
    const a = 2 * (t - delay - j)
    const pastRe = weight * (bin[a] ?? 0)
    const pastIm = -weight * (bin[a + 1] ?? 0)
    right[2 * j] = (right[2 * j] ?? 0) + pastRe * re - pastIm * im
    right[2 * j + 1] = (right[2 * j + 1] ?? 0) + pastRe * im + pastIm * re
    for (let k = 0, at = 2 * j * taps, b = 2 * (t - delay); k <= j; k++, at += 2, b -= 2) {
      const otherRe = bin[b] ?? 0
      const otherIm = bin[b + 1] ?? 0
      matrix[at] = (matrix[at] ?? 0) + pastRe * otherRe - pastIm * otherIm
      matrix[at + 1] = (matrix[at + 1] ?? 0) + pastRe * otherIm + pastIm * otherRe
    }
  }
}

function predict(bin: Float64Array, filter: Float64Array, delay: number, taps: number, late: Float64Array): void {
  for (let t = 0; t < bin.length / 2; t++) {
    let re = 0
    let im = 0
    const most = Math.min(taps, t - delay + 1)
    for (let k = 0; k < most; k++) {
      const a = 2 * (t - delay - k)
      const pastRe = bin[a] ?? 0
      const pastIm = bin[a + 1] ?? 0
      const gRe = filter[2 * k] ?? 0
      const gIm = filter[2 * k + 1] ?? 0
      re += gRe * pastRe - gIm * pastIm
      im += gRe * pastIm + gIm * pastRe
    }
    late[2 * t] = re
    late[2 * t + 1] = im
  }
}

/**
 * Solves `matrix · x = right` for a Hermitian positive matrix, by Cholesky's way without square roots. All are pairs of
 * real and imaginary part, the matrix row by row; only its lower half is read. Both are overwritten: `right` with x.
 */
function solveHermitian(matrix: Float64Array, right: Float64Array, size: number): void {
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row; column++) {
      let re = matrix[2 * (row * size + column)] ?? 0
      let im = matrix[2 * (row * size + column) + 1] ?? 0
      for (let k = 0; k < column; k++) {
        const a = 2 * (row * size + k)
        const b = 2 * (column * size + k)
        const pivot = matrix[2 * (k * size + k)] ?? 0
        re -= pivot * ((matrix[a] ?? 0) * (matrix[b] ?? 0) + (matrix[a + 1] ?? 0) * (matrix[b + 1] ?? 0))
        im -= pivot * ((matrix[a + 1] ?? 0) * (matrix[b] ?? 0) - (matrix[a] ?? 0) * (matrix[b + 1] ?? 0))
      }
      const pivot = column < row ? (matrix[2 * (column * size + column)] ?? 1) : 1
      matrix[2 * (row * size + column)] = re / pivot
      matrix[2 * (row * size + column) + 1] = column < row ? im / pivot : 0
    }
  }
  for (let row = 0; row < size; row++) {
    for (let k = 0, at = 2 * row * size; k < row; k++, at += 2)
      subtract(right, row, k, matrix[at] ?? 0, matrix[at + 1] ?? 0)
  }
  for (let row = size - 1; row >= 0; row--) {
    const pivot = matrix[2 * (row * size + row)] ?? 1
    right[2 * row] = (right[2 * row] ?? 0) / pivot
    right[2 * row + 1] = (right[2 * row + 1] ?? 0) / pivot
    for (let k = row + 1; k < size; k++) {
      const at = 2 * (k * size + row)
      subtract(right, row, k, matrix[at] ?? 0, -(matrix[at + 1] ?? 0))
    }
  }
}

/** `right[row] −= (re + i · im) · right[k]` */
function subtract(right: Float64Array, row: number, k: number, re: number, im: number): void {
  const xRe = right[2 * k] ?? 0
  const xIm = right[2 * k + 1] ?? 0
  right[2 * row] = (right[2 * row] ?? 0) - (re * xRe - im * xIm)
  right[2 * row + 1] = (right[2 * row + 1] ?? 0) - (re * xIm + im * xRe)
}
