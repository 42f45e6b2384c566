import type { Recipe } from '../../config/preset-schema.js'
import { formatTime } from '../../core/time.js'

/** The words leave it open, because the regenerated audio is examined again before music in it is lowered. */
const NO_MUSIC = 'No music was found under the voice, so `--bed lower` probably changes nothing.'

/**
 * Says how long music plays under the voice, and what happens to it. Null if there is none, unless `bed` asks to lower it.
 *
 * @param isEmbedded true if the service is the embedded one
 */
export function bedLine(sec: number, bed: Recipe['bed'], isEmbedded: boolean): string | null {
  if (sec < 1) return bed === 'lower' ? NO_MUSIC : null
  const kept = isEmbedded ? 'The sound stays as it is there.' : 'A service may change it.'
  const effect = bed === 'keep' ? kept : 'It becomes 6 dB quieter.'
  return `Music plays under the voice for ${formatTime(sec)}. ${effect}`
}
