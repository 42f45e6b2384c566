import type { Recipe } from '../../config/preset-schema.js'
import { decodedPeaks } from '../../media/index.js'
import type { JobPlan } from '../plan/plan-job.js'

/** A lossy codec lifts peaks, so they are limited this much lower before it. AAC at 128 kbit/s lifted them by up to 0.8 dB. */
export const LOSSY_RESERVE_DB = 1
/** Tries to keep the limit in the decoded output, after the first one. */
export const MOST_ENCODED_AGAIN = 2

/** The encoder lifts the peaks of a quieter sound a little differently. */
const SPARE_DB = 0.1

/**
 * Decibels by which true peaks must be lower before the encoder. A player's decoder then keeps the limit. 0 if they hold
 * already, or if there is no limit.
 *
 * @param part path of a complete part file
 * @throws ffmpeg's faults; InterruptedError
 */
export async function missingReserveDb(
  { mux }: Pick<JobPlan, 'mux'>,
  target: Recipe['loudness'],
  part: string,
  signal: AbortSignal,
): Promise<number> {
  if (target === null) return 0
  const overDb = Math.max(...(await decodedPeaks(mux, part, signal))) - target.truePeakDbtp
  return overDb > 0 ? overDb + SPARE_DB : 0
}

/** Says that the limit does not hold after the last try. */
export function peakNotes(missingDb: number): readonly string[] {
  if (missingDb === 0) return []
  const over = (missingDb - SPARE_DB).toFixed(1)
  return [
    `The codec lifts true peaks ${over} dB over their limit. Raise its bit rate, or lower "loudness.truePeakDbtp".`,
  ]
}
