import type { MediaInfo } from '../../media-info.js'
import { type CensusEntry, kept, rewritten } from '../census.js'
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
  const entries: CensusEntry[] = []
  let at = 0
  const fillUntil = (next: number) => {
    if (next > at)
      entries.push(at === 0 ? kept('leading bytes', 0, next) : rewritten('packets', at, next - at, NEW_AMONG_OTHERS))
  }
  for (const { pid, number, hasPayload } of firsts) {
    const start = grid.first + number * grid.size
    fillUntil(start)
    const path = pidName(media, pid, hasPayload)
    entries.push(changed.has(pid) ? rewritten(path, start, PLAIN_BYTES, NEW_SOUND) : kept(path, start, PLAIN_BYTES))
    at = start + PLAIN_BYTES
  }
  fillUntil(end)
  if (end < sizeBytes) entries.push(kept('trailing bytes', end, sizeBytes - end))
  return entries
}
