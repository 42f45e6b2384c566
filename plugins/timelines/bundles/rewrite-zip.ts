import { createReadStream } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { crc32, deflateRawSync } from 'node:zlib'
import { readAll, readZipDirectory } from './zip-directory.js'
import { entryExtents } from './zip-entry.js'
import { centralRecord, dosTimeOf, endRecords, localHeader, type ZipEntry } from './zip-format.js'

/** A file that goes into a bundle. */
export interface PackedFile {
  /** Its name in the bundle, with `/` between folders. */
  readonly name: string
  /** Absolute path. */
  readonly path: string
}

/** Differences of the copy of an archive. */
interface ZipChanges {
  /** The entry that gets another content. */
  readonly name: string
  readonly content: Buffer
  /** Files that are stored after it, uncompressed. */
  readonly added: readonly PackedFile[]
}

const UTF8_FLAG = 1 << 11
const DESCRIPTOR_FLAG = 1 << 3
/** A file that its owner may write and everybody may read, made on Unix. */
const [MADE_ON_UNIX, REGULAR_FILE] = [(3 << 8) | 45, (0o100644 << 16) >>> 0]
const CHUNK_BYTES = 1024 ** 2

/**
 * Writes the copy of an archive with one other entry and more files. The bytes of all other entries stay as they are,
 * in their order.
 *
 * @param target is created; it may not exist
 * @throws {TimelineSyntaxError} if entries of the archive overlap
 */
export async function rewriteZip(source: string, target: string, changes: ZipChanges): Promise<void> {
  await using from = await open(source, 'r')
  await using to = await open(target, 'wx')
  const directory = await readZipDirectory(from)
  const extents = await entryExtents(from, directory)
  const writer = new ZipWriter(to)
  await writer.copy(from, 0, extents[0]?.entry.offset ?? 0)
  for (const { entry, end } of extents) {
    if (entry.name === changes.name) await writer.content(entry, changes.content)
    else await writer.keep(from, entry, end)
  }
  for (const file of changes.added) await writer.store(file)
  await writer.end(directory.comment)
}

class ZipWriter {
  readonly #file: FileHandle
  readonly #entries: ZipEntry[] = []
  #at = 0

  constructor(file: FileHandle) {
    this.#file = file
  }

  async keep(from: FileHandle, entry: ZipEntry, end: number): Promise<void> {
    this.#entries.push({ ...entry, offset: this.#at })
    await this.copy(from, entry.offset, end)
  }

  async copy(from: FileHandle, start: number, end: number): Promise<void> {
    for (let at = start; at < end; at += CHUNK_BYTES) {
      await this.#write(await readAll(from, at, Math.min(CHUNK_BYTES, end - at)))
    }
  }

  /** Another content for an entry, packed as the old one was. */
  async content(old: ZipEntry, content: Buffer): Promise<void> {
    const packed = old.method === 0 ? content : deflateRawSync(content)
    const entry = {
      ...{ ...old, flags: old.flags & ~DESCRIPTOR_FLAG, offset: this.#at },
      ...{ crc32: crc32(content), sizeBytes: content.length, compressedBytes: packed.length },
    }
    this.#entries.push(entry)
    await this.#write(localHeader(entry))
    await this.#write(packed)
  }

  /** A file as it is. Its CRC-32 is known when it is copied, and is written into the header then. */
  async store({ name, path }: PackedFile): Promise<void> {
    const { size, mtime } = await stat(path)
    const entry: ZipEntry = {
      ...{ name, rawName: Buffer.from(name), madeBy: MADE_ON_UNIX, flags: UTF8_FLAG, method: 0 },
      ...{ dosTime: dosTimeOf(mtime), crc32: 0, compressedBytes: size, sizeBytes: size, offset: this.#at },
      ...{ externalAttributes: REGULAR_FILE, extra: Buffer.alloc(0), comment: Buffer.alloc(0) },
    }
    await this.#write(localHeader(entry))
    const start = this.#at
    let crc = 0
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
      crc = crc32(chunk, crc)
      await this.#write(chunk)
    }
    if (this.#at - start !== size) throw new RangeError(`${path} changed while it was packed`)
    const whole = { ...entry, crc32: crc }
    this.#entries.push(whole)
    const header = localHeader(whole)
    await this.#file.write(header, 0, header.length, entry.offset)
  }

  async end(comment: Buffer): Promise<void> {
    const start = this.#at
    await this.#write(Buffer.concat(this.#entries.map(centralRecord)))
    await this.#write(endRecords(this.#entries.length, this.#at - start, start, comment))
  }

  async #write(bytes: Buffer): Promise<void> {
    let written = 0
    while (written < bytes.length) {
      const { bytesWritten } = await this.#file.write(bytes, written, bytes.length - written, this.#at + written)
      written += bytesWritten
    }
    this.#at += bytes.length
  }
}
