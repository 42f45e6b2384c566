import type { FileHandle } from 'node:fs/promises'
import { nearReader } from '../../probe/near-reader.js'
import { StructureRow } from './structure-row.js'

const KEY = '060e2b34'
/** Key and the longest length field. */
const HEAD_BYTES = 25
/** Read at once: the elements of a frame are small, except for its picture. */
const WINDOW_BYTES = 16_384
/** Limit for one list. A frame with 16 tracks has about 40 elements, so this is five hours at 25 frames a second. */
const MOST_KLVS = 20_000_000

/** Lists the KLVs of an MXF file (SMPTE ST 377-1); undefined if what follows one of them is not a KLV. */
export async function klvs(file: FileHandle, sizeBytes: number): Promise<StructureRow | undefined> {
  const found = new StructureRow()
  const read = nearReader(file, WINDOW_BYTES)
  for (let at = 0; at < sizeBytes; ) {
    const head = await read(at, HEAD_BYTES)
    const length = head.toString('hex', 0, 4) === KEY ? berLength(head) : undefined
    if (!length || at + length.head + length.body > sizeBytes || found.count > MOST_KLVS) return undefined
    const size = length.head + length.body
    found.push(nameOf(head), size)
    at += size
  }
  return found
}

/** Bytes of the head of a KLV that begins there; 0 if none does, as inside an essence that is one clip. */
export function klvHead(bytes: Buffer): number {
  return bytes.toString('hex', 0, 4) === KEY ? (berLength(bytes)?.head ?? 0) : 0
}

/** Length of a KLV's head (key and length field) and body in bytes; undefined for an unknown form. */
function berLength(head: Buffer): { readonly head: number; readonly body: number } | undefined {
  const first = head[16]
  if (first === undefined) return undefined
  if (first < 0x80) return { head: 17, body: first }
  const count = first & 0x7f
  if (count === 0 || count > 8 || 17 + count > head.length) return undefined
  let body = 0n
  for (let place = 0; place < count; place++) body = (body << 8n) | BigInt(head[17 + place] ?? 0)
  return { head: 17 + count, body: Number(body) }
}

/** Names of the common kinds; others are named by their key. */
function nameOf(head: Buffer): string {
  const key = head.toString('hex', 0, 16)
  if (/^060e2b34020501..0d010201010[234]/.test(key)) return 'partition'
  if (key.startsWith('060e2b34010201') && key.startsWith('0d010301', 16)) return `essence/${key.slice(24)}`
  if (/^060e2b34010101..0301021001000000$/.test(key)) return 'fill'
  if (/^060e2b34025301..0d01020101100100$/.test(key)) return 'index'
  if (/^060e2b34020501..0d01020101110100$/.test(key)) return 'random index'
  if (/^060e2b34020501..0d01020101050100$/.test(key)) return 'primer'
  return `set/${key}`
}
