import { MalformedFile } from '../malformed-file.js'
import type { Box } from './box.js'

/** Boxes that voxmux parses, by the type of their parent (empty for the file itself). */
const CONTAINERS: Readonly<Record<string, readonly string[]>> = {
  '': ['moov', 'moof', 'mfra', 'meta'],
  moov: ['trak', 'mvex', 'udta', 'meta'],
  trak: ['edts', 'mdia', 'udta', 'meta', 'tref'],
  mdia: ['minf'],
  minf: ['dinf', 'stbl'],
  moof: ['traf', 'meta'],
  traf: ['meta'],
  udta: ['meta'],
  meta: ['ilst'],
  ilst: ['----'],
}

/** User data may have any form. If it does not consist of boxes, it stays one range of bytes. */
const LOOSE: ReadonlySet<string> = new Set(['udta', 'meta', 'ilst', '----', 'tref'])

/** A box takes some hundred bytes of memory and eight of a file. A film of a hundred tracks has some thousand. */
const MOST_BOXES = 200_000

/** Counts boxes, so that a file that consists of empty ones does not fill the memory. */
interface BoxCount {
  left: number
}

/**
 * Parses boxes that were read into memory.
 *
 * @param bytes of the boxes
 * @param start their offset in the file
 * @param parent type of the box around them, empty for the file itself
 * @throws MalformedFile if a box is shorter than its header or longer than its parent, or if there are too many
 */
export function parseBoxes(bytes: Buffer, start: number, parent: string): readonly Box[] {
  return boxesIn(bytes, start, parent, { left: MOST_BOXES })
}

function boxesIn(bytes: Buffer, start: number, parent: string, count: BoxCount): readonly Box[] {
  const boxes: Box[] = []
  let at = 0
  // QuickTime ends user data with four zero bytes, which stay.
  while (at + 8 <= bytes.length) {
    count.left -= 1
    if (count.left < 0) throw new MalformedFile(`it has more than ${MOST_BOXES} boxes up to byte ${start + at}`)
    const box = parseBox(bytes, { at, start, parent }, count)
    boxes.push(box)
    at += box.length
  }
  return boxes
}

/** Facts of a box header; `length` is null if the box reaches to the end of its parent. */
export interface BoxHeader {
  readonly type: string
  readonly headerBytes: number
  readonly length: number | null
}

/** Reads a header from the first 16 bytes of a box (8 are enough for a short one); null if there are fewer. */
export function parseHeader(bytes: Buffer, at = 0): BoxHeader | null {
  if (bytes.length < at + 8) return null
  const type = bytes.toString('latin1', at + 4, at + 8)
  const short = bytes.readUInt32BE(at)
  if (short === 0) return { type, headerBytes: 8, length: null }
  if (short !== 1) return { type, headerBytes: 8, length: short }
  return bytes.length < at + 16 ? null : { type, headerBytes: 16, length: Number(bytes.readBigUInt64BE(at + 8)) }
}

/** Extended type of a box, from its first bytes. */
export function extendedTypeOf({ type, headerBytes }: BoxHeader, bytes: Buffer): string | null {
  return type === 'uuid' ? bytes.toString('hex', headerBytes, headerBytes + 16) : null
}

/** Place of a box in bytes that begin at `start` in the file. */
interface BoxPlace {
  readonly at: number
  readonly start: number
  readonly parent: string
}

function parseBox(bytes: Buffer, { at, start, parent }: BoxPlace, count: BoxCount): Box {
  const header = parseHeader(bytes, at)
  const length = header?.length ?? bytes.length - at
  if (!header || length < header.headerBytes || at + length > bytes.length) {
    const type = JSON.stringify(header?.type ?? '')
    throw new MalformedFile(`the box ${type} at byte ${start + at} does not fit into ${parent}`)
  }
  const { type, headerBytes } = header
  const own = bytes.subarray(at, at + length)
  const prefixBytes = type === 'meta' ? prefixOf(own.subarray(headerBytes)) : 0
  return {
    type,
    start: start + at,
    length,
    headerBytes,
    prefixBytes,
    bytes: own,
    extendedType: extendedTypeOf(header, own),
    isOpenEnded: header.length === null,
    children: CONTAINERS[parent]?.includes(type)
      ? childrenIn(own, { at: headerBytes + prefixBytes, start: start + at, parent: type }, count)
      : NONE,
  }
}

const NONE: readonly Box[] = []

function childrenIn(own: Buffer, { at, start, parent }: BoxPlace, count: BoxCount): readonly Box[] {
  try {
    return boxesIn(own.subarray(at), start + at, parent, count)
  } catch (error) {
    if (error instanceof MalformedFile && LOOSE.has(parent)) return []
    throw error
  }
}

/** `meta` has a version in ISO files but not in QuickTime; its first child shows which. */
function prefixOf(body: Buffer): number {
  return body.length >= 4 && body.toString('latin1', 4, 8) !== 'hdlr' ? 4 : 0
}
