/**
 * Records of the zip format (APPNOTE.TXT 6.3.10 by PKWARE). Numbers are little-endian. Sizes and offsets that do not
 * fit into 32 bits stand in the ZIP64 extra field (APPNOTE 4.5.3).
 */

/** An entry of an archive, as its central directory describes it. */
export interface ZipEntry {
  /** With `/` between folders. */
  readonly name: string
  /** The bytes of the name as they stand in the archive. */
  readonly rawName: Buffer
  readonly madeBy: number
  readonly flags: number
  /** 0: stored. 8: deflated. */
  readonly method: number
  /** Time and date in the format of MS-DOS. */
  readonly dosTime: number
  readonly crc32: number
  readonly compressedBytes: number
  readonly sizeBytes: number
  readonly externalAttributes: number
  /** Other extra fields of the central directory, and the comment. */
  readonly extra: Buffer
  readonly comment: Buffer
  /** Offset of the local header. */
  readonly offset: number
}

export const LOCAL_SIGNATURE = 0x04034b50
export const LOCAL_BYTES = 30
export const CENTRAL_SIGNATURE = 0x02014b50
export const CENTRAL_BYTES = 46
export const END_SIGNATURE = 0x06054b50
export const END_BYTES = 22
export const END64_SIGNATURE = 0x06064b50
export const END64_BYTES = 56
export const LOCATOR64_SIGNATURE = 0x07064b50
export const LOCATOR64_BYTES = 20
export const ZIP64_FIELD = 0x0001
/** A value that stands in the ZIP64 field. */
export const ELSEWHERE = 0xffffffff
const VERSION_ZIP64 = 45
const VERSION = 20

/** The local header of an entry whose size and CRC-32 are known. */
export function localHeader(entry: ZipEntry): Buffer {
  const isLarge = Math.max(entry.sizeBytes, entry.compressedBytes) >= ELSEWHERE
  const extra = isLarge ? zip64Field([entry.sizeBytes, entry.compressedBytes]) : Buffer.alloc(0)
  const header = Buffer.alloc(LOCAL_BYTES)
  header.writeUInt32LE(LOCAL_SIGNATURE, 0)
  header.writeUInt16LE(isLarge ? VERSION_ZIP64 : VERSION, 4)
  writeFacts(header, 6, entry, isLarge)
  header.writeUInt16LE(entry.rawName.length, 26)
  header.writeUInt16LE(extra.length, 28)
  return Buffer.concat([header, entry.rawName, extra])
}

/** The record of an entry in the central directory. */
export function centralRecord(entry: ZipEntry): Buffer {
  const isLarge = Math.max(entry.sizeBytes, entry.compressedBytes) >= ELSEWHERE
  const isFar = entry.offset >= ELSEWHERE
  const large = [...(isLarge ? [entry.sizeBytes, entry.compressedBytes] : []), ...(isFar ? [entry.offset] : [])]
  const extra = Buffer.concat([large.length > 0 ? zip64Field(large) : Buffer.alloc(0), entry.extra])
  const record = Buffer.alloc(CENTRAL_BYTES)
  record.writeUInt32LE(CENTRAL_SIGNATURE, 0)
  record.writeUInt16LE(entry.madeBy, 4)
  record.writeUInt16LE(large.length > 0 ? VERSION_ZIP64 : VERSION, 6)
  writeFacts(record, 8, entry, isLarge)
  record.writeUInt16LE(entry.rawName.length, 28)
  record.writeUInt16LE(extra.length, 30)
  record.writeUInt16LE(entry.comment.length, 32)
  record.writeUInt32LE(entry.externalAttributes, 38)
  record.writeUInt32LE(isFar ? ELSEWHERE : entry.offset, 42)
  return Buffer.concat([record, entry.rawName, extra, entry.comment])
}

/** The records after the central directory. */
export function endRecords(count: number, directoryBytes: number, directoryOffset: number, comment: Buffer): Buffer {
  const end = Buffer.alloc(END_BYTES)
  end.writeUInt32LE(END_SIGNATURE, 0)
  const isLarge = count >= 0xffff || directoryBytes >= ELSEWHERE || directoryOffset >= ELSEWHERE
  end.writeUInt16LE(isLarge ? 0xffff : count, 8)
  end.writeUInt16LE(isLarge ? 0xffff : count, 10)
  end.writeUInt32LE(isLarge ? ELSEWHERE : directoryBytes, 12)
  end.writeUInt32LE(isLarge ? ELSEWHERE : directoryOffset, 16)
  end.writeUInt16LE(comment.length, 20)
  if (!isLarge) return Buffer.concat([end, comment])
  const end64 = Buffer.alloc(END64_BYTES)
  end64.writeUInt32LE(END64_SIGNATURE, 0)
  end64.writeBigUInt64LE(BigInt(END64_BYTES - 12), 4)
  end64.writeUInt16LE(VERSION_ZIP64, 12)
  end64.writeUInt16LE(VERSION_ZIP64, 14)
  for (const [index, value] of [count, count, directoryBytes, directoryOffset].entries())
    end64.writeBigUInt64LE(BigInt(value), 24 + index * 8)
  const locator = Buffer.alloc(LOCATOR64_BYTES)
  locator.writeUInt32LE(LOCATOR64_SIGNATURE, 0)
  locator.writeBigUInt64LE(BigInt(directoryOffset + directoryBytes), 8)
  locator.writeUInt32LE(1, 16)
  return Buffer.concat([end64, locator, end, comment])
}

/** Flags, method, time, CRC-32 and sizes stand in the same order in both headers. */
function writeFacts(header: Buffer, at: number, entry: ZipEntry, isLarge: boolean): void {
  header.writeUInt16LE(entry.flags, at)
  header.writeUInt16LE(entry.method, at + 2)
  header.writeUInt32LE(entry.dosTime, at + 4)
  header.writeUInt32LE(entry.crc32, at + 8)
  header.writeUInt32LE(isLarge ? ELSEWHERE : entry.compressedBytes, at + 12)
  header.writeUInt32LE(isLarge ? ELSEWHERE : entry.sizeBytes, at + 16)
}

function zip64Field(values: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + values.length * 8)
  field.writeUInt16LE(ZIP64_FIELD, 0)
  field.writeUInt16LE(values.length * 8, 2)
  for (const [index, value] of values.entries()) field.writeBigUInt64LE(BigInt(value), 4 + index * 8)
  return field
}

/** Time of a file in the format of MS-DOS. Zip has no time zone: UTC, so that the same file always gives the same bytes. */
export function dosTimeOf(time: Date): number {
  const year = Math.min(Math.max(time.getUTCFullYear(), 1980), 2107)
  const date = ((year - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate()
  const clock = (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1)
  return ((date << 16) | clock) >>> 0
}

/** Inverse of {@link dosTimeOf}, to two seconds; the start of its calendar for a time that is none. */
export function timeOfDos(dosTime: number): Date {
  const [date, clock] = [dosTime >>> 16, dosTime & 0xffff]
  const day = Date.UTC(1980 + (date >> 9), Math.max(0, ((date >> 5) & 15) - 1), Math.max(1, date & 31))
  return new Date(day + (((clock >> 11) * 60 + ((clock >> 5) & 63)) * 60 + (clock & 31) * 2) * 1000)
}
