import FFT from 'fft.js'

/** A window and the sound in which it is looked for. */
export interface LagSearch {
  readonly window: Float32Array
  readonly sound: Float32Array
  /** Place of the window in the sound at the first lag. Samples outside the sound are silence. */
  readonly firstAt: number
  readonly lags: number
}

/** What a window has in common with a sound at each lag: the sum of the products of their samples. */
export function lagProducts({ window, sound, firstAt, lags }: LagSearch): Float64Array {
  let size = 2
  while (size < window.length + lags) size *= 2
  const fft = new FFT(size)
  const spectrumOf = (samples: Float64Array) => {
    const spectrum = new Float64Array(2 * size)
    fft.realTransform(spectrum, samples)
    fft.completeSpectrum(spectrum)
    return spectrum
  }
  const wanted = new Float64Array(size)
  wanted.set(window)
  const around = new Float64Array(size)
  const end = Math.min(sound.length, firstAt + window.length + lags)
  around.set(sound.subarray(Math.max(firstAt, 0), Math.max(end, 0)), Math.max(-firstAt, 0))
  const [one, other] = [spectrumOf(wanted), spectrumOf(around)]
  const shared = new Float64Array(2 * size)
  for (let at = 0; at < shared.length; at += 2) {
    const [re, im, otherRe, otherIm] = [one[at] ?? 0, one[at + 1] ?? 0, other[at] ?? 0, other[at + 1] ?? 0]
    shared[at] = re * otherRe + im * otherIm
    shared[at + 1] = re * otherIm - im * otherRe
  }
  const products = new Float64Array(2 * size)
  fft.inverseTransform(products, shared)
  return Float64Array.from({ length: lags }, (_, lag) => products[2 * lag] ?? 0)
}
