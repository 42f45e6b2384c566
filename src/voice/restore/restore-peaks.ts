import type { Clipping } from './clipping.js'
import { predictPeaks } from './predicted-peaks.js'
import { sparsePeaks } from './sparse-peaks.js'

/**
 * Restores the peaks of a clipped channel: the mean of two methods. Prediction is better for short gaps, and sparsity for
 * long ones, and their errors do not agree. All other samples stay.
 *
 * @param channel 48 kHz
 * @returns the channel with its peaks, which may exceed full scale
 */
export function restorePeaks(channel: Float32Array<ArrayBuffer>, clipping: Clipping): Float32Array<ArrayBuffer> {
  const predicted = predictPeaks(channel, clipping)
  const sparse = sparsePeaks(channel, clipping)
  return predicted.map((value, i) => (value + (sparse[i] ?? 0)) / 2)
}
