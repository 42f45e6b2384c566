import { open } from 'node:fs/promises'
import { readAt } from '../../../../core/read-at.js'
import { readVint } from '../../../probe/matroska/ebml.js'
import { ID } from '../../../probe/matroska/ids.js'
import { BlockList, LACING } from './block-list.js'
import { uintIn } from './element.js'
import type { TrackEntry } from './track-entry.js'

const XIPH = 0x02
const FIXED = 0x04
/** Enough for the sizes of the frames in a block. */
const SIZES_BYTES = 1024

/** A track whose blocks may hold several frames. */
interface LacedTrack {
  readonly blocks: BlockList
  readonly track: TrackEntry
  readonly tickNs: number
  /** Ticks that a frame lasts, by its first byte and that of the one before; null if all in a block last equally long. */
  readonly ticksOf: ((before: number, head: number) => number) | null
}

/**
 * Lists the frames of a track as if each had a block of its own. A block states the time of its first frame only; the
 * others follow each other (RFC 9559, 10.3).
 *
 * @returns undefined if the sizes of some frames do not fit into their block
 */
export async function unlace(path: string, laced: LacedTrack): Promise<BlockList | undefined> {
  const { blocks, ticksOf } = laced
  const frames = new BlockList()
  let head = 0
  let evenTicks = 0
  await using file = await open(path, 'r')
  for (let block = 0; block < blocks.count; block++) {
    const [dataStart, dataLength, flags] = [blocks.dataStart(block), blocks.dataLength(block), blocks.flags(block)]
    const bytes = await readAt(file, dataStart, ticksOf ? dataLength : Math.min(dataLength, SIZES_BYTES))
    const own = framesOf(bytes, flags & LACING, dataLength)
    if (!own) return undefined
    evenTicks = evenTicksIn(laced, block, own.length) ?? evenTicks
    let tick = blocks.tick(block)
    for (const { from, length } of own) {
      const start = dataStart + from
      // ffmpeg rounds down too. If it decodes nothing from the first packet, the second one places all sound.
      const place = { start, length, dataStart: start, dataLength: length, tick: Math.floor(tick) }
      frames.push({
        ...place,
        cluster: blocks.cluster(block),
        ordinal: blocks.ordinal(block),
        flags: flags & ~LACING,
      })
      const before = head
      head = bytes[from] ?? 0
      tick += ticksOf ? ticksOf(before, head) : evenTicks
    }
    const padding = blocks.discardPaddings.get(block)
    if (padding) frames.discardPaddings.set(frames.count - 1, padding)
  }
  return frames
}

/** Ticks that each frame of a block lasts: as the track states, or as many as fit before the next block. */
function evenTicksIn({ blocks, track, tickNs }: LacedTrack, block: number, frameCount: number): number | undefined {
  const statedNs = uintIn(track.element, ID.DefaultDuration)
  if (statedNs !== undefined) return statedNs / tickNs
  return block + 1 < blocks.count ? (blocks.tick(block + 1) - blocks.tick(block)) / frameCount : undefined
}

/** True if some blocks of a track hold several frames. */
export function isLaced(blocks: BlockList): boolean {
  for (let block = 0; block < blocks.count; block++) if ((blocks.flags(block) & LACING) !== 0) return true
  return false
}

/**
 * The three headers of Vorbis in a CodecPrivate, with Xiph lacing: their number less one, the sizes of all but the last, and
 * the packets. Undefined for another structure.
 */
export function xiphPackets(header: Buffer): readonly [Buffer, Buffer, Buffer] | undefined {
  const packets = header[0] === 2 ? framesOf(header, XIPH, header.length) : undefined
  return packets?.map(({ from, length }) => header.subarray(from, from + length)) as
    | [Buffer, Buffer, Buffer]
    | undefined
}

/** The frames of a block, by their offset in its data. @param bytes its first ones at least */
function framesOf(bytes: Buffer, lacing: number, dataLength: number) {
  if (lacing === 0) return [{ from: 0, length: dataLength }]
  const count = (bytes[0] ?? 0) + 1
  const read =
    lacing === FIXED ? { sizes: [], at: 1 } : lacing === XIPH ? xiphSizes(bytes, count) : ebmlSizes(bytes, count)
  if (!read) return undefined
  const rest = dataLength - read.at
  const sizes =
    lacing === FIXED
      ? Array.from({ length: count }, () => rest / count)
      : [...read.sizes, rest - read.sizes.reduce((sum, size) => sum + size, 0)]
  if (!sizes.every((size) => Number.isInteger(size) && size > 0)) return undefined
  let from = read.at
  return sizes.map((length) => {
    from += length
    return { from: from - length, length }
  })
}

interface Sizes {
  /** One for each frame but the last. */
  readonly sizes: readonly number[]
  /** First byte behind them. */
  readonly at: number
}

function xiphSizes(bytes: Buffer, count: number): Sizes | undefined {
  let at = 1
  const sizes: number[] = []
  while (sizes.length < count - 1) {
    let size = 0
    for (;;) {
      const byte = bytes[at++]
      if (byte === undefined) return undefined
      size += byte
      if (byte < 255) break
    }
    sizes.push(size)
  }
  return { sizes, at }
}

/** The first size, and from each to the next a difference, which is stored with an offset so that it is not negative. */
function ebmlSizes(bytes: Buffer, count: number): Sizes | undefined {
  let at = 1
  const sizes: number[] = []
  while (sizes.length < count - 1) {
    const number = readVint(bytes, at)
    if (!number) return undefined
    at += number.width
    const last = sizes.at(-1)
    sizes.push(last === undefined ? number.value : last + number.value - (2 ** (7 * number.width - 1) - 1))
  }
  return { sizes, at }
}
