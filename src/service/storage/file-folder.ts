import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { makeDurableFolder } from '../../core/make-folder.js'
import { syncFolder } from '../../core/sync-folder.js'

/** A part file that nobody has written to for so long belongs to nobody any more. */
const STALE_MS = 3600_000

/** What the names of work folders begin with. */
const WORK = 'work'

/**
 * Lays files in a folder: `<id>/input`, `<id>/output.<ext>`, `<id>/blocks/`. What is being written is a part file until
 * it is whole and on the disk, then it is renamed, and the name is on the disk too before anybody hears of it: a broken
 * upload is no upload, and what was accepted outlives a power cut.
 */
export class FileFolder {
  constructor(private readonly root: string) {}

  inputPath(fileId: string): string {
    return join(this.folder(fileId), 'input')
  }

  outputPath(fileId: string, extension: string): string {
    return join(this.folder(fileId), `output.${extension}`)
  }

  /** A new folder in which the file's output may be made. */
  async workFolder(fileId: string): Promise<string> {
    return this.made(this.folder(fileId), `${WORK}${randomUUID()}`)
  }

  /** Writes a stream to the input. `through` counts and checks what flows. */
  async writeInput(fileId: string, source: Readable, through: readonly Transform[], signal?: AbortSignal) {
    await this.made(this.folder(fileId))
    await this.write(this.inputPath(fileId), [source, ...through], signal)
  }

  /** Keeps one block of an upload in blocks until they are committed. */
  async writeBlock(fileId: string, blockId: string, source: Readable, through: readonly Transform[]): Promise<void> {
    const folder = await this.made(this.folder(fileId), 'blocks')
    await this.write(join(folder, blockName(blockId)), [source, ...through])
  }

  /** Sizes of the blocks in bytes, in the order asked; undefined where one is missing. */
  async blockSizes(fileId: string, blockIds: readonly string[]): Promise<number[] | undefined> {
    const sizes = await Promise.all(blockIds.map((blockId) => sizeOf(this.blockPath(fileId, blockId))))
    return sizes.every((size) => size !== undefined) ? sizes : undefined
  }

  /** Makes the input of the blocks, in this order. */
  async joinBlocks(fileId: string, blockIds: readonly string[]): Promise<void> {
    const blocks = blockIds.map((blockId) => this.blockPath(fileId, blockId))
    async function* bytes() {
      for (const block of blocks) yield* createReadStream(block)
    }
    await this.made(this.folder(fileId))
    await this.write(this.inputPath(fileId), [Readable.from(bytes())])
    await rm(join(this.folder(fileId), 'blocks'), { recursive: true, force: true })
  }

  async inputSize(fileId: string): Promise<number | undefined> {
    return sizeOf(this.inputPath(fileId))
  }

  /** Moves a finished file to its place. */
  async adoptOutput(fileId: string, extension: string, path: string): Promise<void> {
    await flushed(path)
    await rename(path, this.outputPath(fileId, extension))
    await syncFolder(this.folder(fileId))
    await this.clearWork(fileId)
  }

  async deleteInput(fileId: string): Promise<void> {
    await rm(this.inputPath(fileId), { force: true })
    await rm(join(this.folder(fileId), 'blocks'), { recursive: true, force: true })
    await this.clearWork(fileId)
  }

  async deleteOutput(fileId: string, extension: string): Promise<void> {
    await rm(this.outputPath(fileId, extension), { force: true })
    await rm(this.folder(fileId), { recursive: true, force: true })
  }

  /** Removes part files that nobody writes any more, and folders whose file is forgotten (an upload came too late). */
  async sweep(known: (fileIds: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void> {
    for (const shard of await namesIn(this.root)) {
      const fileIds = await namesIn(join(this.root, shard))
      const there = await known(fileIds)
      for (const fileId of fileIds) {
        const folder = join(this.root, shard, fileId)
        if (!there.has(fileId)) await removeIfStale(folder)
        else
          for (const name of await namesIn(folder))
            if (name.startsWith('.part-')) await removeIfStale(join(folder, name))
      }
    }
  }

  /** Removes what workers made and did not bring to an end: of this file nobody is at work any more. */
  private async clearWork(fileId: string): Promise<void> {
    for (const name of await namesIn(this.folder(fileId)))
      if (name.startsWith(WORK)) await rm(join(this.folder(fileId), name), { recursive: true, force: true })
  }

  private async write(target: string, streams: readonly (Readable | Transform)[], signal?: AbortSignal) {
    const part = join(target, '..', `.part-${randomUUID()}`)
    try {
      await pipeline([...streams, createWriteStream(part, { mode: 0o600, flush: true })], signal ? { signal } : {})
      await rename(part, target)
      await syncFolder(dirname(target))
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  }

  /** Sharded by the id's first two digits: file systems are slow with a million names in one folder. */
  private folder(fileId: string): string {
    return join(this.root, fileId.slice(0, 2), fileId)
  }

  private blockPath(fileId: string, blockId: string): string {
    return join(this.folder(fileId), 'blocks', blockName(blockId))
  }

  private async made(...parts: string[]): Promise<string> {
    const folder = join(...parts)
    await makeDurableFolder(folder, 0o700)
    return folder
  }
}

/** A block id is the client's text: hashed, it cannot name another place. */
function blockName(blockId: string): string {
  return createHash('sha256').update(blockId).digest('hex')
}

async function sizeOf(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.size
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => [])
}

async function removeIfStale(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found && found.mtimeMs < Date.now() - STALE_MS) await rm(path, { recursive: true, force: true })
}

async function flushed(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
