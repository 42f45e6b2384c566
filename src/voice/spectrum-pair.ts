/**
 * Two real signals as one complex one: half the transforms. All spectra are pairs of real and imaginary part; those of
 * a pair have `size` bins, those of one signal the lower `size / 2 + 1`.
 */
import type { BinSums } from './mask-gain.js'

/**
 * Takes the transform of `original + i · voice` apart.
 *
 * @param original gets the original's lower bins
 * @param sums the original's power and its likeness to the voice are added to these
 */
export function splitPair(pair: Float64Array, original: Float64Array, { product, power }: BinSums): void {
  const size = pair.length / 2
  for (let bin = 0; bin <= size / 2; bin++) {
    const mirror = bin === 0 ? 0 : size - bin
    const re = pair[2 * bin] ?? 0
    const im = pair[2 * bin + 1] ?? 0
    const mirrorRe = pair[2 * mirror] ?? 0
    const mirrorIm = pair[2 * mirror + 1] ?? 0
    const originalRe = (re + mirrorRe) / 2
    const originalIm = (im - mirrorIm) / 2
    const voiceRe = (im + mirrorIm) / 2
    const voiceIm = (mirrorRe - re) / 2
    product[bin] = (product[bin] ?? 0) + voiceRe * originalRe + voiceIm * originalIm
    power[bin] = (power[bin] ?? 0) + originalRe * originalRe + originalIm * originalIm
    original[2 * bin] = originalRe
    original[2 * bin + 1] = originalIm
  }
}

/**
 * Puts a real signal's spectrum, weighed bin by bin, into a pair: its inverse transform has the first in its real part
 * and the second in its imaginary. The first replaces what was there.
 */
export function addPair(
  pair: Float64Array,
  spectrum: Float64Array,
  weights: Float64Array,
  place: 'first' | 'second',
): void {
  const size = pair.length / 2
  for (let bin = 0; bin <= size / 2; bin++) {
    const mirror = bin === 0 ? 0 : size - bin
    const weight = weights[bin] ?? 0
    const re = (spectrum[2 * bin] ?? 0) * weight
    const im = (spectrum[2 * bin + 1] ?? 0) * weight
    if (place === 'first') {
      pair[2 * mirror] = re
      pair[2 * mirror + 1] = -im
      pair[2 * bin] = re
      pair[2 * bin + 1] = im
      continue
    }
    // i · X at the bin, i · conj(X) at its mirror; where they are one bin, X is real and added once.
    pair[2 * bin] = (pair[2 * bin] ?? 0) - im
    pair[2 * bin + 1] = (pair[2 * bin + 1] ?? 0) + re
    if (mirror === bin) continue
    pair[2 * mirror] = (pair[2 * mirror] ?? 0) + im
    pair[2 * mirror + 1] = (pair[2 * mirror + 1] ?? 0) + re
  }
}
