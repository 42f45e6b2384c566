import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../src/core/make-folder.js'
import { unlessMalformed } from '../../src/media/probe/malformed-file.js'
import { parseBoxes } from '../../src/media/probe/movie/parse-boxes.js'
import type { ResourceRange } from './playlist.js'

/** Boxes that say where in the file its fragments lie: packagers write one before or behind all of them. */
const INDEXES = new Set(['sidx', 'mfra'])

/** A file of which parts get other bytes, more or fewer. Parts are given from front to back. */
export class RewrittenFile {
  readonly #source: FileHandle
  readonly #target: FileHandle
  /** End of each part that was replaced, and how far the bytes after it have moved. */
  readonly #moves: { readonly end: number; readonly by: number }[] = []
  #read = 0
  #written = 0

  private constructor(source: FileHandle, target: FileHandle) {
    this.#source = source
    this.#target = target
  }

  static async open(source: string, target: string): Promise<RewrittenFile> {
    makeFolder(dirname(target))
    const from = await open(source, 'r')
    try {
      return new RewrittenFile(from, await open(target, 'wx'))
    } catch (error) {
      await from.close()
      throw error
    }
  }

  /** Writes other bytes for a part, null for the whole file. */
  async replace(range: ResourceRange | null, bytes: Buffer): Promise<void> {
    const { offset, length } = range ?? { offset: 0, length: (await this.#source.stat()).size }
    await this.#copyUntil(offset)
    await this.#append(bytes)
    this.#read = offset + length
    this.#moves.push({ end: this.#read, by: this.#written - this.#read })
  }

  /** Place in the new file of a part of the old one, replaced or not. */
  rangeOf({ offset, length }: ResourceRange): ResourceRange {
    const moved = (place: number) => place + (this.#moves.findLast(({ end }) => end <= place)?.by ?? 0)
    const start = moved(offset)
    return { offset: start, length: moved(offset + length) - start }
  }

  /** Copies what is left, and makes sure that it lies on the disk. */
  async finish(): Promise<void> {
    await this.#copyUntil((await this.#source.stat()).size)
    await this.#target.sync()
    await this.close()
  }

  async close(): Promise<void> {
    await this.#source.close()
    await this.#target.close()
  }

  async #copyUntil(end: number): Promise<void> {
    if (end <= this.#read) return
    const { buffer } = await this.#source.read(Buffer.alloc(end - this.#read), 0, end - this.#read, this.#read)
    // An index of the whole file, outside every segment, would lead astray now; players go by the playlist.
    for (const { type, start } of unlessMalformed(() => parseBoxes(buffer, 0, 'part'), []))
      if (INDEXES.has(type)) buffer.write('free', start + 4, 'latin1')
    await this.#append(buffer)
    this.#read = end
  }

  async #append(bytes: Buffer): Promise<void> {
    await this.#target.write(bytes, 0, bytes.length, this.#written)
    this.#written += bytes.length
  }
}
