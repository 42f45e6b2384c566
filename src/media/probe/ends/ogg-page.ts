import type { NearReader } from '../near-reader.js'

/** A page of an Ogg file (RFC 3533). Offsets in bytes. */
export interface OggPage {
  readonly start: number
  readonly headLength: number
  readonly bodyLength: number
  /** First byte behind it. */
  readonly end: number
  readonly serial: number
  /** Bit 1: continues a packet, 2: begins a stream, 4: ends it. */
  readonly flags: number
  readonly granule: bigint
  /** Segment table: a packet ends with a segment shorter than 255. */
  readonly lacing: Buffer
}

/** Flag of the first page of a stream. */
export const BEGINS = 2
/** The first letters of a page. */
export const PAGE_NAME = 'OggS'
/** Bytes of a page up to its segments, whose number is the last of them. */
export const PAGE_HEAD_BYTES = 27
/** Segments of the largest page. */
export const MOST_SEGMENTS = 255

/** Reads the page at an offset; undefined if none begins there. */
export async function readOggPage(read: NearReader, start: number): Promise<OggPage | undefined> {
  const head = await read(start, PAGE_HEAD_BYTES + MOST_SEGMENTS)
  const segments = head[PAGE_HEAD_BYTES - 1]
  if (segments === undefined || head.toString('latin1', 0, 4) !== PAGE_NAME || head[4] !== 0) return undefined
  const lacing = Buffer.from(head.subarray(PAGE_HEAD_BYTES, PAGE_HEAD_BYTES + segments))
  if (lacing.length < segments) return undefined
  const headLength = PAGE_HEAD_BYTES + segments
  const bodyLength = lacing.reduce((sum, length) => sum + length, 0)
  return {
    ...{ start, headLength, bodyLength, end: start + headLength + bodyLength },
    serial: head.readUInt32LE(14),
    flags: head[5] ?? 0,
    granule: head.readBigUInt64LE(6),
    lacing,
  }
}
