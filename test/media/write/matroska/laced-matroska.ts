import { open, stat, writeFile } from 'node:fs/promises'
import { readAt } from '../../../../src/core/read-at.js'
import { ID } from '../../../../src/media/probe/matroska/ids.js'
import { makeElement, makeHead, makeUint, makeVint } from '../../../../src/media/write/matroska/read/make-ebml.js'
import { readMatroska } from '../../../../src/media/write/matroska/read/matroska-file.js'

const KEYFRAME = 0x80
const PACKETS_A_BLOCK = 8
/** Behind the number of a track, in one byte, and the time. */
const FLAGS_AT = 3

export type Lacing = 'xiph' | 'ebml' | 'fixed'
const FLAGS: Readonly<Record<Lacing, number>> = { xiph: 0x02, fixed: 0x04, ebml: 0x06 }

/**
 * Writes a Matroska file with one track of sound again, with eight packets in each block.
 *
 * @param packetSec how long each lasts, as the track then states; null for packets that say so themselves, and `shared`
 *   if only a block states its length
 */
export async function laceMatroska(
  path: string,
  into: string,
  lacing: Lacing,
  packetSec: number | 'shared' | null,
): Promise<void> {
  const { tracks, blocks, tickNs, segment } = await readMatroska(path, (await stat(path)).size)
  const [track] = tracks
  const list = track && blocks.get(track.number)
  if (!track || !list) throw new Error(`${path} has no sound`)
  const file = await open(path, 'r')
  try {
    const clusters: Buffer[] = []
    for (let first = 0; first < list.count; first += PACKETS_A_BLOCK) {
      const packets: Buffer[] = []
      for (let packet = first; packet < Math.min(first + PACKETS_A_BLOCK, list.count); packet++)
        packets.push(await readAt(file, list.dataStart(packet), list.dataLength(packet)))
      const body = Buffer.concat([
        makeVint(track.number),
        Buffer.from([0, 0, KEYFRAME | FLAGS[lacing], packets.length - 1]),
        sizesOf(packets, lacing),
        ...packets,
      ])
      const time = makeUint(ID.Timestamp, list.tick(first))
      const next = first + PACKETS_A_BLOCK
      const isLast = next >= list.count
      const lasts = packetSec === 'shared' && !isLast ? list.tick(next) - list.tick(first) : null
      const block = isLast || lasts !== null ? blockGroup(body, lasts) : makeElement(ID.SimpleBlock, body)
      clusters.push(makeElement(ID.Cluster, Buffer.concat([time, block])))
    }
    const stated = typeof packetSec !== 'number' ? [] : [makeUint(ID.DefaultDuration, Math.round(packetSec * 1e9))]
    // Newer versions of ffmpeg state it for Vorbis too.
    const others = track.element.children.filter(({ id }) => id !== ID.DefaultDuration).map(({ bytes }) => bytes)
    const entry = makeElement(ID.TrackEntry, Buffer.concat([...others, ...stated]))
    const info = makeElement(ID.Info, makeUint(ID.TimestampScale, tickNs))
    const body = Buffer.concat([info, makeElement(ID.Tracks, entry), ...clusters])
    const top = await readAt(file, 0, segment.start)
    await writeFile(into, Buffer.concat([top, makeHead(ID.Segment, body.length), body]))
  } finally {
    await file.close()
  }
}

/** A block in a group, which is a key frame without saying so. */
function blockGroup(body: Buffer, ticks: number | null): Buffer {
  const block = Buffer.from(body)
  block[FLAGS_AT] = (block[FLAGS_AT] as number) & ~KEYFRAME
  const duration = ticks === null ? [] : [makeUint(ID.BlockDuration, ticks)]
  return makeElement(ID.BlockGroup, Buffer.concat([makeElement(ID.Block, block), ...duration]))
}

/** The sizes of all packets but the last (RFC 9559, 10.3). */
function sizesOf(packets: readonly Buffer[], lacing: Lacing): Buffer {
  const sizes = packets.slice(0, -1).map(({ length }) => length)
  if (lacing === 'xiph')
    return Buffer.concat(sizes.map((size) => Buffer.from([...Array(Math.floor(size / 255)).fill(255), size % 255])))
  if (lacing === 'fixed') return Buffer.alloc(0)
  return Buffer.concat(
    sizes.map((size, place) => (place === 0 ? makeVint(size) : difference(size - (sizes[place - 1] as number)))),
  )
}

/** A signed number in two bytes, stored with an offset. */
function difference(value: number): Buffer {
  return makeVint(value + 2 ** 13 - 1, 2)
}
