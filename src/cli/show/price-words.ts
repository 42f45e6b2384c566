import { formatTime } from '../../core/time.js'

/** Length of the voice that a plan sends. Null: not known yet. */
export function voiceSeconds(paidSec: number | null): string {
  return paidSec === null ? 'unknown until the voice is cut' : formatTime(paidSec)
}

/**
 * Describes what a plan costs.
 *
 * @param paidSec seconds that are sent; null if not known yet
 * @param isFree true if the built-in service regenerates them
 * @param detail follows the seconds
 */
export function priceWords(paidSec: number | null, isFree: boolean | undefined, detail = ''): string {
  if (isFree) return 'nothing: the built-in service runs on this computer'
  const seconds = `${voiceSeconds(paidSec)}${detail}`
  return paidSec === 0 ? seconds : `${seconds}, or less if a voice is in the cache`
}
