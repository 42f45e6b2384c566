import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import type { MediaInfo } from '../../media-info.js'
import type { Structure } from './structure.js'

const START_CODE = Buffer.from([0, 0, 1])
const [END, PACK, PRIVATE_1, PRIVATE_2] = [0xb9, 0xba, 0xbd, 0xbf]
/** The longest header of a packet, with the first byte behind it. */
const HEAD_BYTES = 265
const WINDOW_BYTES = 1024 ** 2
/** Packs in a row of the same size. Fewer can be chance. */
const EQUAL_PACKS = 8
/** The size of a pack on DVDs, which ffmpeg writes. */
const PACK_BYTES = 2048

/** Start codes with a fixed meaning (ISO/IEC 13818-1, table 2-22). */
const NAMES: ReadonlyMap<number, string> = new Map([
  [END, 'end code'],
  [PACK, 'pack'],
  [0xbb, 'system header'],
  [0xbc, 'program stream map'],
  [0xbe, 'padding'],
  [PRIVATE_2, 'private stream 2'],
  [0xf0, 'entitlement control (ECM)'],
  [0xf1, 'entitlement management (EMM)'],
  [0xf2, 'DSM-CC'],
  [0xf8, 'H.222.1 type E'],
  [0xff, 'program stream directory'],
])
/** Navigation of a DVD: the first byte of each table, by the length of its packet. */
const NAVIGATION: ReadonlyMap<number, number> = new Map([
  [986, 0],
  [1024, 1],
])
/** Fields of a packet's header: their flag, their size, and their name. */
const FIELDS = [
  [0x20, 6, 'ESCR'],
  [0x10, 3, 'ES rate'],
  [0x08, 1, 'trick mode'],
  [0x04, 1, 'copy information'],
  [0x02, 2, 'checksum'],
] as const
/** Those of its extension, by their flag. */
const EXTENSION_FIELDS = [
  [0x80, 'private data'],
  [0x40, 'pack header'],
  [0x20, 'sequence counter'],
] as const

/** A packet, header or pack header; without a code, bytes between them. */
export interface ProgramPart {
  readonly code: number | null
  readonly start: number
  readonly length: number
  /** Its first bytes: the whole header, and the first byte behind it. */
  readonly head: Buffer
}

/** Names a stream by the number that ffprobe gives it: `packets 0x1e0 (stream)`. */
export function programStream(id: number): string {
  return `packets 0x${id.toString(16)} (stream)`
}

/**
 * Lists the kinds of structures of an MPEG program stream, each with the place and size of the first one. A stream that
 * ffprobe does not list has no ` (stream)` behind its name. Reads the whole file, and passes over bytes between packets.
 */
export async function programPackets(
  file: FileHandle,
  { streams, sizeBytes }: Pick<MediaInfo, 'streams' | 'sizeBytes'>,
  signal?: AbortSignal,
): Promise<readonly Structure[]> {
  const ids = new Set(streams.flatMap(({ id }) => id ?? []))
  const found = new Map<string, Structure>()
  const note = (path: string, { start, length }: Pick<Structure, 'start' | 'length'>) => {
    if (!found.has(path)) found.set(path, { path, start, length })
  }
  const packs: number[] = []
  for await (const part of programParts(file, sizeBytes, signal)) {
    note(programPath(part, ids), part)
    for (const field of headerFields(part)) note(`header of packets/${field}`, part)
    if (part.code === PACK && packs.length <= EQUAL_PACKS) packs.push(part.start)
  }
  const [start = 0, second = 0] = packs
  const length = second - start
  const isRegular = packs.length > EQUAL_PACKS && packs.every((at, place) => at === start + place * length)
  if (isRegular && length !== PACK_BYTES) note(`packs of ${length} bytes each`, { start, length })
  return [...found.values()]
}

/** Walks a program stream: its packets, and the bytes between them as parts without a code. */
export async function* programParts(
  file: FileHandle,
  sizeBytes: number,
  signal?: AbortSignal,
): AsyncGenerator<ProgramPart> {
  let window: Buffer = Buffer.alloc(0)
  let from = 0
  for (let at = 0; at < sizeBytes; ) {
    if (at + HEAD_BYTES > from + window.length) {
      signal?.throwIfAborted()
      window = await readAt(file, at, WINDOW_BYTES)
      from = at
    }
    const bytes = window.subarray(at - from)
    if (bytes.length === 0) return
    const stated = packetBytes(bytes)
    const length = Math.min(stated ?? bytesToNext(bytes), sizeBytes - at)
    const head = bytes.subarray(0, stated === undefined ? length : HEAD_BYTES)
    yield { code: stated === undefined ? null : (bytes[3] ?? 0), start: at, length, head }
    at += length
  }
}

/** Bytes before the next start code, or before the last bytes, which may begin one. */
function bytesToNext(bytes: Buffer): number {
  const next = bytes.indexOf(START_CODE, 1)
  return next < 0 ? Math.max(1, bytes.length - START_CODE.length + 1) : next
}

/** Undefined if no packet begins here. */
function packetBytes(bytes: Buffer): number | undefined {
  const code = bytes[3] ?? 0
  if (!bytes.subarray(0, 3).equals(START_CODE) || code < END) return undefined
  if (code === END) return 4
  if (code !== PACK) return bytes.length < 6 ? undefined : 6 + bytes.readUInt16BE(4)
  if (isMpeg1Pack(bytes)) return 12
  return (bytes[4] ?? 0) >> 6 === 1 ? 14 + ((bytes[13] ?? 0) & 7) : undefined
}

function isMpeg1Pack(head: Buffer): boolean {
  return (head[4] ?? 0) >> 4 === 2
}

/** Names the kind of a part. @param ids numbers that ffprobe gives the streams */
export function programPath({ code, length, head }: ProgramPart, ids: ReadonlySet<number>): string {
  if (code === null) return head.some((byte) => byte !== 0) ? 'bytes between packets' : 'zeros between packets'
  if (code === PACK && isMpeg1Pack(head)) return 'packs of MPEG-1'
  const id = 0x100 + code
  if (code === PRIVATE_2 && ids.has(id) && NAVIGATION.get(length) === head[6]) return programStream(id)
  const name = NAMES.get(code)
  if (name !== undefined) return name
  if (code === PRIVATE_1 && !ids.has(id)) {
    const substream = head[payloadAt(head)] ?? 0
    return ids.has(substream) ? programStream(substream) : `private stream 1, 0x${substream.toString(16)}`
  }
  // ffmpeg numbers the streams that share the last code by their extension too.
  const known = ids.has(id) ? id : [...ids].find((each) => each >> 8 === code)
  return known === undefined ? `packets 0x${id.toString(16)}` : programStream(known)
}

/** The place of the first byte behind the header. */
export function payloadAt(head: Buffer): number {
  if (isMpeg2Header(head)) return 9 + (head[8] ?? 0)
  const at = oldTimesAt(head)
  return at + (TIME_BYTES[(head[at] ?? 0) >> 4] ?? 1)
}

/** The place of the time in the header of a packet; undefined if it states none. */
export function timesAt(head: Buffer): number | undefined {
  if (isMpeg2Header(head)) return (head[7] ?? 0) >> 7 === 1 ? 9 : undefined
  const at = oldTimesAt(head)
  return (TIME_BYTES[(head[at] ?? 0) >> 4] ?? 1) > 1 ? at : undefined
}

/** Bytes of the times in a header of MPEG-1, by the first four bits. */
const TIME_BYTES = [1, 1, 5, 10]

/** The place behind the filler and the size of the buffer in a header of MPEG-1. */
function oldTimesAt(head: Buffer): number {
  let at = 6
  while (head[at] === 0xff) at++
  return (head[at] ?? 0) >> 6 === 1 ? at + 2 : at
}

export function isMpeg2Header(head: Buffer): boolean {
  return (head[6] ?? 0) >> 6 === 2
}

/** Names the fields of a packet's header that state more than the times and the buffer of a stream. */
export function headerFields({ code, head }: Pick<ProgramPart, 'code' | 'head'>): readonly string[] {
  if (code === null || NAMES.has(code) || !isMpeg2Header(head)) return []
  const flags = head[7] ?? 0
  const stated = FIELDS.filter(([flag]) => flags & flag)
  const names = stated.map(([, , name]) => name)
  if ((flags & 1) === 0) return names
  const times = [0, 0, 5, 10][flags >> 6] ?? 0
  const extension = head[stated.reduce((at, [, bytes]) => at + bytes, 9 + times)] ?? 0
  return [...names, ...EXTENSION_FIELDS.flatMap(([flag, name]) => (extension & flag ? [name] : []))]
}
