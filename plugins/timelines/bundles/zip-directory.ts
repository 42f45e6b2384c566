import type { FileHandle } from 'node:fs/promises'
import { TimelineSyntaxError } from '../timeline-error.js'
import {
  CENTRAL_BYTES,
  CENTRAL_SIGNATURE,
  ELSEWHERE,
  END_BYTES,
  END_SIGNATURE,
  END64_BYTES,
  END64_SIGNATURE,
  LOCATOR64_BYTES,
  LOCATOR64_SIGNATURE,
  ZIP64_FIELD,
  type ZipEntry,
} from './zip-format.js'

/** A bundle of media has fewer entries, and a directory that is smaller. */
const MOST_ENTRIES = 100_000
const MOST_DIRECTORY_BYTES = 64 * 1024 ** 2
const MOST_COMMENT_BYTES = 0xffff

/** The central directory of an archive. */
export interface ZipDirectory {
  readonly entries: readonly ZipEntry[]
  readonly offset: number
  readonly comment: Buffer
}

/** Reads the central directory, with ZIP64. @throws {TimelineSyntaxError} if it is damaged or names are equal */
export async function readZipDirectory(file: FileHandle): Promise<ZipDirectory> {
  const { size } = await file.stat()
  const tailBytes = Math.min(size, END_BYTES + MOST_COMMENT_BYTES + LOCATOR64_BYTES)
  const tail = await readAll(file, size - tailBytes, tailBytes)
  const end = endOf(tail)
  const comment = tail.subarray(end + END_BYTES, end + END_BYTES + tail.readUInt16LE(end + 20))
  const { count, bytes, offset } = (await end64Of(file, tail, end)) ?? {
    count: tail.readUInt16LE(end + 10),
    bytes: tail.readUInt32LE(end + 12),
    offset: tail.readUInt32LE(end + 16),
  }
  if (count > MOST_ENTRIES || bytes > MOST_DIRECTORY_BYTES) throw damaged('its directory is too large')
  if (offset + bytes > size) throw damaged('its directory lies outside it')
  return { entries: entriesOf(await readAll(file, offset, bytes), count, offset), offset, comment }
}

/** Reads so many bytes. @throws {TimelineSyntaxError} if the file ends before */
export async function readAll(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled)
    if (bytesRead === 0) throw damaged('it is truncated')
    filled += bytesRead
  }
  return buffer
}

/** The last end record whose comment ends with the file. */
function endOf(tail: Buffer): number {
  for (let at = tail.length - END_BYTES; at >= 0; at--)
    if (tail.readUInt32LE(at) === END_SIGNATURE && at + END_BYTES + tail.readUInt16LE(at + 20) === tail.length)
      return at
  throw damaged('it has no directory')
}

async function end64Of(file: FileHandle, tail: Buffer, end: number) {
  const locator = end - LOCATOR64_BYTES
  if (locator < 0 || tail.readUInt32LE(locator) !== LOCATOR64_SIGNATURE) return undefined
  const record = await readAll(file, safeNumber(tail.readBigUInt64LE(locator + 8)), END64_BYTES)
  if (record.readUInt32LE(0) !== END64_SIGNATURE) throw damaged('its ZIP64 record is missing')
  const [count = 0, bytes = 0, offset = 0] = [32, 40, 48].map((at) => safeNumber(record.readBigUInt64LE(at)))
  return { count, bytes, offset }
}

function entriesOf(directory: Buffer, count: number, directoryOffset: number): readonly ZipEntry[] {
  const entries = new Map<string, ZipEntry>()
  let at = 0
  for (let index = 0; index < count; index++) {
    if (at + CENTRAL_BYTES > directory.length || directory.readUInt32LE(at) !== CENTRAL_SIGNATURE)
      throw damaged('its directory is truncated')
    const nameEnd = at + CENTRAL_BYTES + directory.readUInt16LE(at + 28)
    const extraEnd = nameEnd + directory.readUInt16LE(at + 30)
    const next = extraEnd + directory.readUInt16LE(at + 32)
    if (next > directory.length) throw damaged('its directory is truncated')
    const rawName = directory.subarray(at + CENTRAL_BYTES, nameEnd)
    const extra = directory.subarray(nameEnd, extraEnd)
    const entry: ZipEntry = {
      ...{ name: nameOf(rawName), rawName, comment: directory.subarray(extraEnd, next) },
      ...{ madeBy: directory.readUInt16LE(at + 4), flags: directory.readUInt16LE(at + 8) },
      ...{ method: directory.readUInt16LE(at + 10), dosTime: directory.readUInt32LE(at + 12) },
      ...{ crc32: directory.readUInt32LE(at + 16), externalAttributes: directory.readUInt32LE(at + 38) },
      ...sizesOf(directory, at, extra),
    }
    // Programs differ in which of the two they take: nobody would know which one was regenerated.
    if (entries.has(entry.name)) throw damaged(`it has two entries called ${entry.name}`)
    if (entry.offset + entry.compressedBytes > directoryOffset) throw damaged(`${entry.name} lies outside it`)
    entries.set(entry.name, entry)
    at = next
  }
  return [...entries.values()]
}

/** Sizes and offset, from the ZIP64 field if they stand there, and the extra fields without it. */
function sizesOf(directory: Buffer, at: number, extra: Buffer) {
  const { zip64, others } = fieldsOf(extra)
  let next = 0
  const value = (shift: number): number => {
    const small = directory.readUInt32LE(at + shift)
    if (small !== ELSEWHERE) return small
    if (!zip64 || next + 8 > zip64.length) throw damaged('its ZIP64 sizes are missing')
    next += 8
    return safeNumber(zip64.readBigUInt64LE(next - 8))
  }
  // The field holds them in this order.
  const sizeBytes = value(24)
  const compressedBytes = value(20)
  return { sizeBytes, compressedBytes, offset: value(42), extra: others }
}

function fieldsOf(extra: Buffer): { readonly zip64: Buffer | undefined; readonly others: Buffer } {
  const others: Buffer[] = []
  let zip64: Buffer | undefined
  let at = 0
  while (at + 4 <= extra.length) {
    const end = at + 4 + extra.readUInt16LE(at + 2)
    if (end > extra.length) break
    if (extra.readUInt16LE(at) === ZIP64_FIELD) zip64 = extra.subarray(at + 4, end)
    else others.push(extra.subarray(at, end))
    at = end
  }
  return { zip64, others: Buffer.concat([...others, extra.subarray(at)]) }
}

/** Names are UTF-8 or come from an older system, whether the flag says so or not. */
function nameOf(raw: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(raw)
  } catch {
    return raw.toString('latin1')
  }
}

function safeNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged('it states sizes that no file has')
  return Number(value)
}

function damaged(why: string): TimelineSyntaxError {
  return new TimelineSyntaxError(`it is not a readable zip archive: ${why}`)
}
