import type { FileHandle } from 'node:fs/promises'
import { throwIfAborted } from '../../../core/abort.js'
import { readAt } from '../../../core/read-at.js'
import { MOST_SEGMENTS, type OggPage, PAGE_HEAD_BYTES, PAGE_NAME, readOggPage } from '../../probe/ends/ogg-page.js'
import { nearReader } from '../../probe/near-reader.js'
import { type BytePiece, lengthOf, newBytes } from '../byte-plan.js'

/** More bytes of headers are damage, or an attack. */
export const MOST_HEADER_BYTES = 64 * 1024 ** 2
const SEARCHED_BYTES = 1024 ** 2
const CHECKSUM_AT = 22
/** "No packet ends here." */
export const NO_GRANULE = 0xffff_ffff_ffff_ffffn

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index << 24
  for (let bit = 0; bit < 8; bit++) value = (value & 0x8000_0000) !== 0 ? (value << 1) ^ 0x04c1_1db7 : value << 1
  return value >>> 0
})

/** Reads the page at an offset; undefined if none begins there. */
export function oggPageAt(file: FileHandle, start: number): Promise<OggPage | undefined> {
  return readOggPage(nearReader(file), start)
}

/** The pages from an offset on, up to the first place at which none begins. */
export async function* oggPages(file: FileHandle, start: number): AsyncGenerator<OggPage> {
  const read = nearReader(file)
  for (let page = await readOggPage(read, start); page; page = await readOggPage(read, page.end)) yield page
}

/** The content of a page. */
export function oggBody(file: FileHandle, { start, headLength, bodyLength }: OggPage): Promise<Buffer> {
  return readAt(file, start + headLength, bodyLength)
}

/** Offset of the first page at a place or behind it; null if there is none. @throws {InterruptedError} */
export async function nextPageStart(file: FileHandle, from: number, signal?: AbortSignal): Promise<number | null> {
  const read = nearReader(file)
  for (let at = from; ; at += SEARCHED_BYTES - PAGE_NAME.length) {
    throwIfAborted(signal)
    const bytes = await readAt(file, at, SEARCHED_BYTES)
    for (let place = bytes.indexOf(PAGE_NAME); place >= 0; place = bytes.indexOf(PAGE_NAME, place + 1)) {
      if (await readOggPage(read, at + place)) return at + place
    }
    if (bytes.length < SEARCHED_BYTES) return null
  }
}

/** A page with a new number and checksum. @param body holds what the lacing of the page counts */
export function oggPage(
  { flags, granule, lacing }: Pick<OggPage, 'flags' | 'granule' | 'lacing'>,
  serial: number,
  sequence: number,
  ...body: readonly BytePiece[]
): readonly BytePiece[] {
  const head = Buffer.alloc(CHECKSUM_AT)
  head.write(PAGE_NAME, 'latin1')
  head[5] = flags
  head.writeBigUInt64LE(granule, 6)
  head.writeUInt32LE(serial, 14)
  head.writeUInt32LE(sequence, 18)
  const segments = Buffer.from([lacing.length, ...lacing])
  // The checksum counts its own place as zeros.
  const covers = segments.length + lengthOf(body)
  const before = checksum(Buffer.alloc(4), checksum(head, 0))
  return [
    newBytes(head),
    { kind: 'checksum', of: { start: before, add: checksum }, covers },
    newBytes(segments),
    ...body,
  ]
}

/** Pages one behind the other, after a change to their joined content. */
export function withNewBody(pages: readonly Buffer[], change: (body: Buffer) => void): Buffer {
  const headOf = (page: Buffer) => PAGE_HEAD_BYTES + (page[PAGE_HEAD_BYTES - 1] ?? 0)
  const body = Buffer.concat(pages.map((page) => page.subarray(headOf(page))))
  change(body)
  let taken = 0
  const made = pages.map((page) => {
    const own = Buffer.from(page)
    taken += body.copy(own, headOf(own), taken, taken + own.length - headOf(own))
    own.writeUInt32LE(0, CHECKSUM_AT)
    own.writeUInt32LE(checksum(own, 0), CHECKSUM_AT)
    return own
  })
  return Buffer.concat(made)
}

/** The segments that state the length of a packet. */
export function lacingOf(length: number): readonly number[] {
  return [...Array.from({ length: Math.floor(length / 255) }, () => 255), length % 255]
}

/** Pages that hold only these packets, each with its number; the first begins a new page. */
export function pagesOfPackets(
  packets: readonly Buffer[],
  serial: number,
  firstSequence: number,
  flags = 0,
): readonly (readonly BytePiece[])[] {
  const body = Buffer.concat([...packets])
  const lacing = packets.flatMap(({ length }) => lacingOf(length))
  const pages: (readonly BytePiece[])[] = []
  let at = 0
  for (let from = 0; from < lacing.length; from += MOST_SEGMENTS) {
    const own = Buffer.from(lacing.slice(from, from + MOST_SEGMENTS))
    const length = own.reduce((sum, value) => sum + value, 0)
    const bytes = body.subarray(at, at + length)
    const continues = from > 0 && lacing[from - 1] === 255 ? 1 : 0
    const granule = own.some((value) => value < 255) ? 0n : NO_GRANULE
    const page = { flags: continues | (from === 0 ? flags : 0), granule, lacing: own }
    pages.push(oggPage(page, serial, firstSequence + pages.length, newBytes(bytes)))
    at += length
  }
  return pages
}

/** The packets of some pages; the last one may be incomplete. */
export function packetsOf(pages: readonly { readonly lacing: Buffer; readonly body: Buffer }[]): readonly Buffer[] {
  const packets: Buffer[] = []
  let open: Buffer[] = []
  for (const { lacing, body } of pages) {
    let at = 0
    for (const length of lacing) {
      open.push(body.subarray(at, at + length))
      at += length
      if (length === 255) continue
      packets.push(Buffer.concat(open))
      open = []
    }
  }
  return packets
}

function checksum(bytes: Uint8Array, start: number): number {
  let crc = start
  for (let at = 0; at < bytes.length; at++) {
    crc = ((crc << 8) ^ (CRC_TABLE[((crc >>> 24) ^ (bytes[at] as number)) & 0xff] as number)) >>> 0
  }
  return crc
}
