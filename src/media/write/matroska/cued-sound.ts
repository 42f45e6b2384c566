import type { BlockList } from './read/block-list.js'
import { childrenOf, uintIn } from './read/element.js'
import { ID } from './read/ids.js'
import { elementIn, type MatroskaFile } from './read/matroska-file.js'

/** Most seconds of sound that may lie before the place of its time; less than what is read before a segment. */
const MOST_AHEAD_SEC = 1

/**
 * True if a reader that begins at any place of `Cues` finds all sound from a second after its time on. Every place must
 * be a cluster.
 */
export function isCued({ parts, clusters, segment, tickNs }: MatroskaFile, blocks: BlockList): boolean {
  const starts = new Set(clusters.map(({ start }) => start - segment.dataStart))
  const cues = parts
    .map(elementIn)
    .filter((element) => element?.id === ID.Cues)
    .flatMap((element) => childrenOf(element ?? undefined, ID.CuePoint))
    .flatMap((point) =>
      childrenOf(point, ID.CueTrackPositions).map((place) => ({
        tick: uintIn(point, ID.CueTime) ?? 0,
        position: uintIn(place, ID.CueClusterPosition) ?? -1,
      })),
    )
    .sort((one, other) => one.position - other.position)
  let block = 0
  let lastTick = Number.NEGATIVE_INFINITY
  const isSound = cues.every(({ tick, position }) => {
    for (; block < blocks.count && blocks.start(block) < segment.dataStart + position; block++) {
      lastTick = Math.max(lastTick, blocks.tick(block))
    }
    return starts.has(position) && ((lastTick - tick) * tickNs) / 1e9 <= MOST_AHEAD_SEC
  })
  return cues.length > 0 && isSound
}
