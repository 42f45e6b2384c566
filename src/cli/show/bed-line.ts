import type { Recipe } from '../../config/preset-schema.js'
import { formatTime } from '../../core/time.js'

/**
 * Says how long music plays under the voice, and what happens to it. Null if there is none.
 *
 * @param isEmbedded true if the service is the built-in one
 */
export function bedLine(sec: number, bed: Recipe['bed'], isEmbedded: boolean): string | null {
  if (sec < 1) return null
  const kept = isEmbedded ? 'The sound stays as it is there.' : 'A service may change it.'
  const effect = bed === 'keep' ? kept : 'It becomes 6 dB quieter.'
  return `Music plays under the voice for ${formatTime(sec)}. ${effect}`
}
