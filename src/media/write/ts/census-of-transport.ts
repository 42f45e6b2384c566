import type { MediaInfo } from '../../media-info.js'
import { type CensusEntry, kept, rewritten, withGaps } from '../census.js'
import { PLAIN_BYTES, pidName } from '../structure/transport-pids.js'
import type { TransportFile } from './transport-file.js'

const NEW_SOUND = 'packets of the new sound'
const NEW_AMONG_OTHERS = 'new sound in the places of the old, and of padding if it needs more; every other packet stays'

/**
 * Lists the fate of a transport stream: the first packet of each PID, and the packets between them as one.
 *
 * @param changed PIDs with new sound
 */
export function censusOfTransport(
  { sizeBytes, grid, end, firsts }: TransportFile,
  media: MediaInfo,
  changed: ReadonlySet<number>,
): readonly CensusEntry[] {
  const entries = firsts.map(({ pid, number, hasPayload }) => {
    const [path, start] = [pidName(media, pid, hasPayload), grid.first + number * grid.size]
    return changed.has(pid) ? rewritten(path, start, PLAIN_BYTES, NEW_SOUND) : kept(path, start, PLAIN_BYTES)
  })
  const others = (at: number, length: number) =>
    at === 0 ? kept('leading bytes', at, length) : rewritten('packets', at, length, NEW_AMONG_OTHERS)
  const trailing = end < sizeBytes ? [kept('trailing bytes', end, sizeBytes - end)] : []
  return [...withGaps(entries, [0, end], others), ...trailing]
}
