import type { SpliceableTrack } from '../splice/old-packets.js'
import { BlockList } from './read/block-list.js'
import type { MatroskaDonor } from './read/donor.js'
import { childrenOf, uintIn } from './read/element.js'
import { ID } from './read/ids.js'
import { elementIn, type MatroskaFile } from './read/matroska-file.js'
import type { Voice } from './voice.js'

const LACED = 0x06

/** Most seconds of sound that may lie before the place of its time; less than what is read before a segment. */
const MOST_AHEAD_SEC = 1

/** Lists the packets of a track, so that some of them can be replaced; or the reason why they cannot. */
export function spliceableTrack(
  file: MatroskaFile,
  { track, blocks, shownTick, isLeadInSignalled }: Voice,
  startSec: number,
): SpliceableTrack<MatroskaDonor> | string {
  const { tickNs } = file
  if (track.isEncoded) return 'its packets are stored without the bytes that all of them begin with'
  const { count } = blocks
  for (let block = 0; block < count; block++) {
    if ((blocks.flags(block) & LACED) !== 0) return 'its blocks hold several packets'
  }
  const shownSec = (shownTick * tickNs) / 1e9
  const secOf = (block: number) => (blocks.tick(block) * tickNs) / 1e9
  return {
    frameHead: null,
    isIndexed: isCued(file, blocks),
    packets: {
      count,
      start: blocks.dataStart,
      length: blocks.dataLength,
      headBytes: 0,
      startSec: (packet) => secOf(packet) - track.codecDelayNs / 1e9 - startSec,
    },
    donorOf: ({ length, offsetOf }) => {
      const packets = new BlockList()
      for (let block = 0; block < count; block++) {
        const [start, bytes] = [offsetOf(block), length(block)]
        const place = { start, length: bytes, dataStart: start, dataLength: bytes, cluster: 0, ordinal: 0 }
        packets.push({ ...place, tick: blocks.tick(block), flags: blocks.flags(block) })
      }
      for (const [block, padding] of blocks.discardPaddings) packets.discardPaddings.set(block, padding)
      return {
        ...{ entry: track, packets, bytes: offsetOf(count), packetSamples: null, encoder: null },
        primingSamples: isLeadInSignalled ? Math.round((track.codecDelayNs * track.sampleRate) / 1e9) : 0,
        startSec: (packet) =>
          (packet < count ? secOf(packet) : 2 * secOf(count - 1) - secOf(Math.max(0, count - 2))) - shownSec,
      }
    },
  }
}

/** True if a reader from any place of `Cues` finds all sound a second later. Every place must be a cluster. */
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
