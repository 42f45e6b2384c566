import { findClipping } from '../../../src/voice/restore/clipping.js'
import { restorePeaks } from '../../../src/voice/restore/prepare-channel.js'
import { siSdr } from './si-sdr.js'

/**
 * Clips the loudest share of all samples (0 to 1), and restores them.
 *
 * @returns SI-SDR in dB against the sound, clipped and restored
 */
export function judgePeaks(clean: Float32Array, share: number): { readonly before: number; readonly after: number } {
  const sorted = Float32Array.from(clean, Math.abs).sort()
  const level = sorted[Math.floor((1 - share) * sorted.length)] ?? 1
  const clipped = clean.map((value) => Math.max(-level, Math.min(level, value)))
  const clipping = findClipping(clipped)
  const restored = clipping ? restorePeaks(clipped, clipping) : clipped
  return { before: siSdr(clean, clipped), after: siSdr(clean, restored) }
}
