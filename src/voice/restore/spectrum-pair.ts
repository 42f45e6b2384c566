/**
 * Two real signals as one complex one: half the transforms. All spectra are pairs of real and imaginary part; those of
 * a pair have `size` bins, those of one signal the lower `size / 2 + 1`.
 */

/** Takes the transform of `first + i · second` apart. */
export function splitPair(pair: Float64Array, first: Float64Array, second: Float64Array): void {
  const size = pair.length / 2
  for (let bin = 0; bin <= size / 2; bin++) {
    const mirror = bin === 0 ? 0 : size - bin
    const re = pair[2 * bin] ?? 0
    const im = pair[2 * bin + 1] ?? 0
    const mirrorRe = pair[2 * mirror] ?? 0
    const mirrorIm = pair[2 * mirror + 1] ?? 0
    first[2 * bin] = (re + mirrorRe) / 2
    first[2 * bin + 1] = (im - mirrorIm) / 2
    second[2 * bin] = (im + mirrorIm) / 2
    second[2 * bin + 1] = (mirrorRe - re) / 2
  }
}

/**
 * Puts a real signal's spectrum into a pair: its inverse transform has the first in its real part and the second in
 * its imaginary. The first replaces what was there.
 */
export function addPair(pair: Float64Array, spectrum: Float64Array, place: 'first' | 'second'): void {
  const size = pair.length / 2
  for (let bin = 0; bin <= size / 2; bin++) {
    const mirror = bin === 0 ? 0 : size - bin
    const re = spectrum[2 * bin] ?? 0
    // Bins that are their own mirror are real.
    const im = mirror === bin || bin === 0 ? 0 : (spectrum[2 * bin + 1] ?? 0)
    if (place === 'first') {
      pair[2 * mirror] = re
      pair[2 * mirror + 1] = -im
      pair[2 * bin] = re
      pair[2 * bin + 1] = im
      continue
    }
    // i · X at the bin, i · conj(X) at its mirror; a bin that is its own mirror is added once.
    pair[2 * bin] = (pair[2 * bin] ?? 0) - im
    pair[2 * bin + 1] = (pair[2 * bin + 1] ?? 0) + re
    if (mirror === bin || bin === 0) continue
    pair[2 * mirror] = (pair[2 * mirror] ?? 0) + im
    pair[2 * mirror + 1] = (pair[2 * mirror + 1] ?? 0) + re
  }
}
