import { type Coding, type Joint, packetAt } from './coding.js'

/** Sizes of the two kinds of blocks, in samples. A block spans two packets: its own and half of each neighbour. */
export interface BlockSizes {
  readonly short: number
  readonly long: number
}

const SIZES_AT = 28

/** Reads the id header (Vorbis I, 4.2.2). */
export function blockSizes(id: Buffer): BlockSizes {
  const both = id[SIZES_AT] ?? 0
  return { short: 2 ** (both & 15), long: 2 ** (both >> 4) }
}

/** A packet begins with a zero, its mode, and for a long block the kinds of both neighbours. */
const LONG = 2
const NEXT_LONG = 8

/**
 * Size of the block of a packet (Vorbis I, 4.3.1). libvorbis has two modes, or one if both sizes are the same. Its
 * set-up is the same as that of the track.
 *
 * @param head first byte of the packet
 */
export function blockSize(head: number, { short, long }: BlockSizes): number {
  return (head & LONG) !== 0 && short !== long ? long : short
}

/** Samples from the middle of each block to that of the next; the first packet only prepares the second. */
export function samplesOfBlocks(sizes: readonly number[]): readonly number[] {
  return sizes.map((size, place) => (place === 0 ? 0 : (size + (sizes[place - 1] as number)) / 4))
}

/** Start of each of some packets that follow each other, and the end of the last. @param sample at which the first starts */
export function startsFrom(sample: number, lengths: readonly number[]): readonly number[] {
  const starts = [sample]
  for (const [place, length] of lengths.entries()) starts.push((starts[place] as number) + length)
  return starts
}

/** Samples between a block's middle and the place at which it gives way to the next. */
export function edgeSamples(size: number): number {
  return size / 4
}

/**
 * Finds the places at which either of two codings may go on. The block before such a place lies in both, at the same
 * sample and with the same window towards the next.
 *
 * @param fromSample first place, and `toSample` the last
 */
export async function commonJoints(
  old: Coding,
  made: Coding,
  sizes: BlockSizes,
  [fromSample, toSample]: readonly [number, number],
): Promise<readonly Joint[]> {
  const blocks = new Map<string, number>()
  for (const { packet, key } of await blocksIn(made, sizes, fromSample, toSample)) blocks.set(key, packet)
  return (await blocksIn(old, sizes, fromSample, toSample)).flatMap(({ packet, key }) => {
    const same = blocks.get(key)
    return same === undefined ? [] : [{ old: packet + 1, made: same + 1 }]
  })
}

/** The blocks whose middle lies in a range, each with what must agree at a joint behind it. */
async function blocksIn(coding: Coding, sizes: BlockSizes, fromSample: number, toSample: number) {
  const [from, to] = [packetAt(coding, fromSample - 1), packetAt(coding, toSample) + 1]
  const packets = await coding.read(from, to)
  return packets.flatMap((bytes, place) => {
    const packet = from + place
    const middle = coding.startOf(packet + 1)
    if (middle < fromSample || middle > toSample || packet + 1 >= coding.end) return []
    const [head = 0] = bytes
    const size = blockSize(head, sizes)
    const isLongBehind = size > sizes.short && (head & NEXT_LONG) !== 0
    return [{ packet, key: [middle, size, isLongBehind].join() }]
  })
}
