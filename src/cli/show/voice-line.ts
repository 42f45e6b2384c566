import { formatTime } from '../../core/time.js'
import { noisyRanges, VOICED } from '../../pipeline/plan/ranges-to-send.js'
import type { VoiceMap } from '../../voice/index.js'

/** Blocks for noise from none to full strength. */
const BLOCKS = '▁▂▃▄▅▆▇█'
/** A cell without a voice. */
const NO_VOICE = '·'
const MOST_CELLS = 60

/**
 * The map as one row of blocks, at most {@link MOST_CELLS}, and the seconds that `--only-noisy` would regenerate.
 *
 * @param durationSec of the file, whose last second in the map is rarely whole; null if unknown
 */
export function voiceLine(map: VoiceMap, leastGapSec: number, durationSec: number | null): string {
  const total = map.noise.length
  const perCell = Math.ceil(total / MOST_CELLS)
  const cells = Array.from({ length: Math.ceil(total / perCell) }, (_, cell) => {
    const part = (values: readonly number[]) => Math.max(...values.slice(cell * perCell, (cell + 1) * perCell))
    if (part(map.voice) < VOICED) return NO_VOICE
    return BLOCKS[Math.min(BLOCKS.length - 1, Math.floor(part(map.noise) * BLOCKS.length))]
  })
  const fileSec = Math.min(total, durationSec ?? total)
  const sec = noisyRanges(map, leastGapSec).reduce(
    (sum, { startSec, endSec }) => sum + (endSec ?? fileSec) - Math.min(startSec, fileSec),
    0,
  )
  return `${cells.join('')}  ${sec === 0 ? 'no noise around a voice' : `noise around a voice in ${formatTime(sec)}`}`
}
