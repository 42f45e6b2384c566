import type { MediaInfo } from '../../media-info.js'
import { ID } from '../../probe/matroska/ids.js'
import type { PacketList, SpliceableTrack, VorbisHeaders } from '../splice/old-packets.js'
import { blockSize, blockSizes, samplesOfBlocks } from '../splice/vorbis-blocks.js'
import { BlockList } from './read/block-list.js'
import type { MatroskaDonor } from './read/donor.js'
import { childOf, childrenOf, uintIn } from './read/element.js'
import { elementsIn, type MatroskaFile } from './read/matroska-file.js'
import type { TrackEntry } from './read/track-entry.js'
import { isLaced, unlace, xiphPackets } from './read/unlace.js'
import type { VoiceTrack } from './voice-track.js'

/** Codecs whose packets themselves state how long they last. */
const STATES_LENGTH: ReadonlySet<string> = new Set(['A_OPUS', 'A_VORBIS'])

/** Most seconds of sound that may lie before the place of its time; less than what is read before a segment. */
const MOST_AHEAD_SEC = 1

/** Lists the packets of a track, so that some of them can be replaced; or the reason why they cannot. */
export async function spliceableMatroska(
  file: MatroskaFile,
  { track, blocks: stored, shownTick, isPrimingSignalled }: VoiceTrack,
  { path, startSec }: MediaInfo,
): Promise<SpliceableTrack<MatroskaDonor> | string> {
  const { tickNs } = file
  if (track.isEncoded) return 'its packets are stored without the bytes that all of them begin with'
  const vorbis = vorbisHeaders(track)
  const ticksOf = vorbis ? vorbisTicks(vorbis, track, tickNs) : null
  if (isLaced(stored) && isUnstated(track))
    return 'its blocks hold several packets and do not state how long these last'
  const blocks = isLaced(stored) ? await unlace(path, { blocks: stored, track, tickNs, ticksOf }) : stored
  if (!blocks) return 'its blocks hold several packets whose sizes do not fit'
  const { count } = blocks
  const shownSec = (shownTick * tickNs) / 1e9
  const secOf = (block: number) => (blocks.tick(block) * tickNs) / 1e9
  return {
    vorbis,
    frameHead: null,
    // Shared time would place such sound wrongly by the block in which a reading begins.
    isIndexed: isCued(file, stored) && !(vorbis && isLaced(stored)),
    packets: {
      count,
      start: blocks.dataStart,
      length: blocks.dataLength,
      headBytes: 0,
      startSec: (packet) => secOf(packet) - track.codecDelayNs / 1e9 - startSec,
    },
    donorOf: (made) => {
      const packets = new BlockList()
      const secAt = (packet: number) => {
        const time = made.timeOf(packet)
        return secOf(time.packet) + time.behindSamples / track.sampleRate
      }
      for (let packet = 0; packet < made.count; packet++) {
        const { packet: old } = made.timeOf(packet)
        const [start, length] = [made.offsetOf(packet), made.length(packet)]
        const place = { start, length, dataStart: start, dataLength: length, cluster: 0, ordinal: 0 }
        packets.push({ ...place, tick: Math.round((secAt(packet) * 1e9) / tickNs), flags: blocks.flags(old) })
      }
      for (const [packet, padding] of paddings(blocks, made, track)) packets.discardPaddings.set(packet, padding)
      const last = made.count - 1
      return {
        ...{ entry: track, packets, bytes: made.offsetOf(made.count), packetSamples: null, encoder: null },
        primingSamples: isPrimingSignalled ? Math.round((track.codecDelayNs * track.sampleRate) / 1e9) : 0,
        startSec: (packet) =>
          (packet <= last ? secAt(packet) : 2 * secAt(last) - secAt(Math.max(0, last - 1))) - shownSec,
      }
    },
  }
}

/** True if ffmpeg has to guess how long a packet lasts. */
function isUnstated({ element, codecId }: TrackEntry): boolean {
  return !STATES_LENGTH.has(codecId) && !childOf(element, ID.DefaultDuration)
}

function vorbisHeaders({ codecId, codecPrivate }: TrackEntry): VorbisHeaders | null {
  const [id, , setUp] = (codecId === 'A_VORBIS' && codecPrivate && xiphPackets(codecPrivate)) || []
  return id && setUp ? { id, setUp } : null
}

/** Ticks that a packet of Vorbis lasts, by the first bytes of the one before and of itself. */
function vorbisTicks({ id }: VorbisHeaders, { sampleRate }: TrackEntry, tickNs: number) {
  const sizes = blockSizes(id)
  return (...heads: readonly [number, number]) => {
    const [, samples = 0] = samplesOfBlocks(heads.map((head) => blockSize(head, sizes)))
    return (samples * 1e9) / sampleRate / tickNs
  }
}

/** Time at the end of some packets that is not played. New packets at the end may last longer than the old ones. */
function paddings(blocks: BlockList, made: PacketList, { sampleRate }: TrackEntry): ReadonlyMap<number, Buffer> {
  const moved = new Map([...blocks.discardPaddings].map(([old, padding]) => [made.firstAt(old), padding]))
  if (made.surplusSamples === 0) return moved
  const last = made.count - 1
  const before = blocks.discardPaddings.get(blocks.count - 1)
  const paddingNs = (before ? readInt(before) : 0) + Math.round((made.surplusSamples * 1e9) / sampleRate)
  const bytes = Buffer.alloc(INT_BYTES)
  bytes.writeIntBE(paddingNs, 0, INT_BYTES)
  return moved.set(last, bytes)
}

const INT_BYTES = 6

function readInt(bytes: Buffer): number {
  return bytes.length === 0 || bytes.length > INT_BYTES ? 0 : bytes.readIntBE(0, bytes.length)
}

/** True if a reader from any place of `Cues` finds all sound a second later. Every place must be a cluster. */
export function isCued(file: MatroskaFile, blocks: BlockList): boolean {
  const { clusters, segment, tickNs } = file
  const starts = new Set(clusters.map(({ start }) => start - segment.dataStart))
  const cues = elementsIn(file, ID.Cues)
    .flatMap((element) => childrenOf(element, ID.CuePoint))
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
