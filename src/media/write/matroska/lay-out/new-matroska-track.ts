import { vintWidthOf } from '../../../probe/matroska/ebml.js'
import { ID } from '../../../probe/matroska/ids.js'
import { type BytePiece, newBytes } from '../../byte-plan.js'
import { firstAtLeast } from '../../first-at-least.js'
import { KEYFRAME } from '../read/block-list.js'
import type { MatroskaDonor } from '../read/donor.js'
import { makeElement, makeHead, makeVint } from '../read/make-ebml.js'
import type { MatroskaFile } from '../read/matroska-file.js'
import type { VoiceTrack } from '../voice-track.js'
import { type BlockSlots, slotsOf } from './slots.js'

/** Latest time of a block in its cluster, in ticks: a signed integer of 16 bits. */
export const MAX_BLOCK_TICK = 0x7fff

/** New packets on the clock of the file. */
export interface NewMatroskaTrack {
  readonly voice: VoiceTrack
  readonly donor: MatroskaDonor
  /** Priming that its entry states; 0 if none. */
  readonly codecDelayNs: number
  readonly slots: BlockSlots
  readonly count: number
  /** Time of a block, in ticks of the segment. */
  readonly tickOf: (packet: number) => number
  /** First packet in a slot. The place after the last slot gives the number of packets. */
  readonly firstIn: (slot: number) => number
  /** End of the packets of a slot whose times fit into its cluster. */
  readonly endIn: (slot: number) => number
  readonly slotOf: (packet: number) => number
  /** The packet that is shown at a tick: the last that begins by then. */
  readonly packetAt: (tick: number) => number
  readonly blockBytes: (packet: number) => number
  /** The pieces of a block in a cluster that begins at a tick. */
  readonly blockPieces: (packet: number, clusterTick: number) => readonly BytePiece[]
}

/** Puts the packets of a donor in the places of the old blocks. The first block keeps its time. */
export function newMatroskaTrack(
  file: MatroskaFile,
  voice: VoiceTrack,
  place: number,
  donor: MatroskaDonor,
): NewMatroskaTrack {
  const { packets, entry } = donor
  const delaySamples = voice.isPrimingSignalled ? donor.primingSamples : 0
  const codecDelayNs = Math.round((delaySamples * 1e9) / entry.sampleRate)
  const slots = slotsOf(file, voice.blocks)
  // The first old block may lie before zero, in its cluster alone.
  const earliest = Math.min(0, voice.blocks.tick(0))
  const tickOf = (packet: number) =>
    Math.max(earliest, Math.round(voice.shownTick + (donor.startSec(packet) * 1e9) / file.tickNs))
  const firstFrom = (tick: number) => firstAtLeast(packets.count, tickOf, tick)
  const firsts = deal(slots, packets.count, firstFrom)
  const endIn = (slot: number) => {
    const end = firsts[slot + 1] as number
    const latest = (file.clusters[slots.cluster(slot)]?.tick ?? 0) + MAX_BLOCK_TICK
    return end === 0 || tickOf(end - 1) <= latest ? end : Math.max(firsts[slot] as number, firstFrom(latest + 1))
  }
  const { blockBytes, blockPieces } = blockMaker(file, voice, { packets, donor: place }, tickOf)
  return {
    ...{ voice, donor, slots, tickOf, blockBytes, blockPieces, endIn, count: packets.count },
    codecDelayNs,
    packetAt: (tick) => Math.max(0, firstFrom(tick + 1) - 1),
    firstIn: (slot) => firsts[slot] as number,
    slotOf: (packet) => firstAtLeast(slots.count, (slot) => firsts[slot + 1] as number, packet + 1),
  }
}

/** Assigns packets to slots by time, so that they stay beside the same pictures. Early packets go to the first slot. */
function deal({ count, tick }: BlockSlots, packets: number, firstFrom: (tick: number) => number): Uint32Array {
  const firsts = new Uint32Array(count + 1)
  firsts[count] = packets
  let earliest = Number.POSITIVE_INFINITY
  for (let slot = count - 1; slot > 0; slot--) {
    // A slot whose successor is earlier gets nothing.
    earliest = Math.min(earliest, tick(slot))
    firsts[slot] = firstFrom(earliest)
  }
  return firsts
}

function blockMaker(
  { mayUseSimpleBlocks }: MatroskaFile,
  { track }: VoiceTrack,
  { packets, donor }: Pick<MatroskaDonor, 'packets'> & { readonly donor: number },
  tickOf: (packet: number) => number,
) {
  const trackNumber = makeVint(track.number)
  const leadBytes = trackNumber.length + 3
  const paddingOf = (packet: number) => {
    const padding = packets.discardPaddings.get(packet)
    return padding ? makeElement(ID.DiscardPadding, padding) : Buffer.alloc(0)
  }
  const isSimple = (packet: number) => mayUseSimpleBlocks && !packets.discardPaddings.has(packet)
  const blockLength = (packet: number) => leadBytes + packets.dataLength(packet)
  const elementBytes = (length: number) => 1 + vintWidthOf(length) + length
  return {
    blockBytes: (packet: number): number => {
      const block = elementBytes(blockLength(packet))
      return isSimple(packet) ? block : elementBytes(block + paddingOf(packet).length)
    },
    blockPieces: (packet: number, clusterTick: number): readonly BytePiece[] => {
      const length = blockLength(packet)
      const [start, dataLength] = [packets.dataStart(packet), packets.dataLength(packet)]
      const data: BytePiece = { kind: 'donor', donor, start, length: dataLength }
      const [tick, flags] = [tickOf(packet) - clusterTick, packets.flags(packet) & KEYFRAME]
      if (isSimple(packet)) {
        return [newBytes(blockHead(ID.SimpleBlock, length, trackNumber, { tick, flags })), data]
      }
      const padding = paddingOf(packet)
      const group = makeHead(ID.BlockGroup, elementBytes(length) + padding.length)
      const block = blockHead(ID.Block, length, trackNumber, { tick, flags: 0 })
      return [newBytes(Buffer.concat([group, block])), data, newBytes(padding)]
    },
  }
}

/** Everything before the packet in a block. */
function blockHead(
  id: number,
  length: number,
  trackNumber: Buffer,
  { tick, flags }: { readonly tick: number; readonly flags: number },
): Buffer {
  const width = vintWidthOf(length)
  const bytes = Buffer.allocUnsafe(1 + width + trackNumber.length + 3)
  bytes[0] = id
  bytes.writeUIntBE(length + 2 ** (7 * width), 1, width)
  bytes.set(trackNumber, 1 + width)
  const at = 1 + width + trackNumber.length
  bytes.writeInt16BE(tick, at)
  bytes[at + 2] = flags
  return bytes
}
