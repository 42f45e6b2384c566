import { formatTime } from '../../core/time.js'

/** Length of the voice that a plan sends, as an upper bound: its last packet may be cut off. Null: not known yet. */
export function voiceSeconds(paidSec: number | null): string {
  if (paidSec === null) return 'unknown until the voice is cut'
  return paidSec === 0 ? formatTime(0) : `at most ${formatTime(paidSec)}`
}

/**
 * Describes what a plan costs.
 *
 * @param paidSec seconds that are sent; null if not known yet
 * @param isFree true if the embedded service regenerates them
 * @param detail follows the seconds
 */
export function priceWords(paidSec: number | null, isFree: boolean | undefined, detail = ''): string {
  if (isFree) return 'nothing: the embedded service runs on this computer'
  const seconds = `${voiceSeconds(paidSec)}${detail}`
  return paidSec === 0 ? seconds : `${seconds}; less if a voice is in the cache`
}
