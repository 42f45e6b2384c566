import FFT from 'fft.js'

const FRAME = 512
const HOP = 256
/** What lies so far under the loudest bin is not told apart. */
const RANGE_DB = 60

const WINDOW = Float64Array.from({ length: FRAME }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / FRAME))

/**
 * Log-spectral distance in dB (less is better): how far the levels of all bins lie apart, the mean over frames of the
 * root of the mean square. Both of one length.
 */
export function spectralDistance(reference: Float32Array, estimate: Float32Array): number {
  const [a, b] = [levels(reference), levels(estimate)]
  const loudest = a.reduce((most, frame) => Math.max(most, ...frame), Number.NEGATIVE_INFINITY)
  const level = (db = Number.NEGATIVE_INFINITY) => Math.max(db, loudest - RANGE_DB)
  const distances = a.map((frame, f) => {
    const squares = frame.map((db, bin) => (level(db) - level(b[f]?.[bin])) ** 2)
    return Math.sqrt(squares.reduce((sum, value) => sum + value, 0) / squares.length)
  })
  return distances.reduce((sum, value) => sum + value, 0) / Math.max(1, distances.length)
}

/** Of each frame, the level of each bin in dB. */
function levels(samples: Float32Array): Float64Array[] {
  const fft = new FFT(FRAME)
  const spectrum = new Float64Array(2 * FRAME)
  const frames: Float64Array[] = []
  for (let start = 0; start + FRAME <= samples.length; start += HOP) {
    fft.realTransform(
      spectrum,
      WINDOW.map((weight, i) => weight * (samples[start + i] ?? 0)),
    )
    frames.push(
      Float64Array.from({ length: FRAME / 2 }, (_, bin) => {
        const power = (spectrum[2 * bin] ?? 0) ** 2 + (spectrum[2 * bin + 1] ?? 0) ** 2
        return 10 * Math.log10(power + 1e-12)
      }),
    )
  }
  return frames
}
