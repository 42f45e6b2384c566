import type { FileHandle } from 'node:fs/promises'
import { pipeline, type Readable, Transform } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import { TimelineSyntaxError } from '../timeline-error.js'
import { readAll, type ZipDirectory } from './zip-directory.js'
import { LOCAL_BYTES, LOCAL_SIGNATURE, type ZipEntry } from './zip-format.js'

const ENCRYPTED = 1
const [STORED, DEFLATED] = [0, 8]
/** Media are stored, and text shrinks to a tenth. Deflate cannot exceed 1,032, which only an attack or silence reaches. */
const MOST_GROWTH = 200

/**
 * Content of an entry as a stream. It ends with an error if the content has another CRC-32 than the directory says, or as
 * soon as it is longer.
 *
 * @throws {TimelineSyntaxError} if the entry is encrypted, packed in another way, or would grow beyond reason
 */
export async function entryContent(file: FileHandle, entry: ZipEntry): Promise<Readable> {
  const { name, method, compressedBytes, sizeBytes } = entry
  if ((entry.flags & ENCRYPTED) !== 0) throw refused(name, 'is encrypted')
  if (method !== STORED && method !== DEFLATED)
    throw refused(name, `is compressed in a way that is not read (${method})`)
  if (method === STORED && compressedBytes !== sizeBytes) throw refused(name, 'has two sizes')
  if (sizeBytes > (compressedBytes + 1024) * MOST_GROWTH) throw refused(name, 'would unpack to far more than it is')
  const start = await dataOffset(file, entry)
  const check = new ContentCheck(entry)
  if (compressedBytes === 0) {
    check.end()
    return check
  }
  const raw = file.createReadStream({ start, end: start + compressedBytes - 1, autoClose: false })
  // The reader of the last stream gets the error of any.
  const failed = () => {}
  if (method === STORED) pipeline(raw, check, failed)
  else pipeline(raw, createInflateRaw(), check, failed)
  return check
}

/** Offset of an entry's bytes. @throws {TimelineSyntaxError} if its local header is not there or names another file */
async function dataOffset(file: FileHandle, { name, rawName, offset }: ZipEntry): Promise<number> {
  const header = await readAll(file, offset, LOCAL_BYTES + rawName.length)
  if (header.readUInt32LE(0) !== LOCAL_SIGNATURE || !header.subarray(LOCAL_BYTES).equals(rawName))
    throw refused(name, 'is not where the directory says')
  return offset + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28)
}

/** The entries in the order of the file, each up to the next. @throws {TimelineSyntaxError} if they overlap */
export async function entryExtents(file: FileHandle, { entries, offset }: ZipDirectory) {
  const ordered = [...entries].sort((a, b) => a.offset - b.offset)
  const extents: { readonly entry: ZipEntry; readonly end: number }[] = []
  for (const [index, entry] of ordered.entries()) {
    const end = ordered[index + 1]?.offset ?? offset
    if ((await dataOffset(file, entry)) + entry.compressedBytes > end)
      throw refused(entry.name, 'overlaps another file')
    extents.push({ entry, end })
  }
  return extents
}

/** Passes content on, and counts it. */
class ContentCheck extends Transform {
  readonly #entry: ZipEntry
  #bytes = 0
  #crc32 = 0

  constructor(entry: ZipEntry) {
    super()
    this.#entry = entry
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: (error: Error | null, chunk?: Buffer) => void): void {
    this.#bytes += chunk.length
    this.#crc32 = crc32(chunk, this.#crc32)
    const isTooLong = this.#bytes > this.#entry.sizeBytes
    done(isTooLong ? refused(this.#entry.name, 'is longer than the directory says') : null, chunk)
  }

  override _flush(done: (error: Error | null) => void): void {
    const { name, sizeBytes, crc32: expected } = this.#entry
    done(this.#bytes === sizeBytes && this.#crc32 === expected ? null : refused(name, 'is damaged'))
  }
}

function refused(name: string, why: string): TimelineSyntaxError {
  return new TimelineSyntaxError(`${name} in the archive ${why}`)
}
