import { randomUUID } from 'node:crypto'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable, Transform } from 'node:stream'
import { makeDurableFolder } from '../../core/make-folder.js'
import { syncFile, syncFolder } from '../../core/sync-folder.js'
import { ifMissing } from './if-missing.js'
import { StagedBlocks } from './staged-blocks.js'
import { PART, type WriteWholeOptions, writeWhole } from './write-whole.js'

/** A part file is abandoned if nobody has written to it for this long. */
const STALE_MS = 3600_000

/** Prefix of the names of work folders. */
const WORK = 'work'

/**
 * Stores files in a folder: `<id>/input`, `<id>/output.<ext>`, `<id>/blocks/`. A file is written as a part file,
 * flushed to disk and renamed; the name is flushed too before the call returns. A broken upload therefore leaves no
 * input, and an accepted one survives a power cut.
 */
export class FileFolder {
  readonly #root: string
  /** Blocks of block uploads, until they are joined. */
  readonly blocks = new StagedBlocks((fileId) => join(this.#folder(fileId), 'blocks'))

  constructor(root: string) {
    this.#root = root
  }

  inputPath(fileId: string): string {
    return join(this.#folder(fileId), 'input')
  }

  outputPath(fileId: string, extension: string): string {
    return join(this.#folder(fileId), `output.${extension}`)
  }

  /** Creates a new folder for the output of a file. */
  async workFolder(fileId: string): Promise<string> {
    return this.#made(this.#folder(fileId), `${WORK}${randomUUID()}`)
  }

  /** Writes a stream to the input. `through` counts and checks the bytes. */
  async writeInput(fileId: string, source: Readable, through: readonly Transform[], options: WriteWholeOptions) {
    await this.#made(this.#folder(fileId))
    await writeWhole(this.inputPath(fileId), [source, ...through], options)
  }

  async inputSize(fileId: string): Promise<number | undefined> {
    return (await stat(this.inputPath(fileId)).catch(ifMissing(undefined)))?.size
  }

  /** Moves a finished file to its place. */
  async adoptOutput(fileId: string, extension: string, path: string): Promise<void> {
    await syncFile(path)
    await rename(path, this.outputPath(fileId, extension))
    await syncFolder(this.#folder(fileId))
    await this.#clearWork(fileId)
  }

  async deleteInput(fileId: string): Promise<void> {
    await rm(this.inputPath(fileId), { force: true })
    await this.blocks.remove(fileId)
    await this.#clearWork(fileId)
  }

  async deleteOutput(fileId: string, extension: string): Promise<void> {
    await rm(this.outputPath(fileId, extension), { force: true })
    await rm(this.#folder(fileId), { recursive: true, force: true })
  }

  /** Removes abandoned part files, and folders whose file is no longer recorded (the upload came too late). */
  async sweep(known: (fileIds: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void> {
    for (const shard of await namesIn(this.#root)) {
      const fileIds = await namesIn(join(this.#root, shard))
      const there = await known(fileIds)
      for (const fileId of fileIds) {
        const folder = join(this.#root, shard, fileId)
        const parts = async () => (await namesIn(folder)).filter((name) => name.startsWith(PART))
        const stale = there.has(fileId) ? (await parts()).map((name) => join(folder, name)) : [folder]
        for (const path of stale) await removeIfStale(path)
      }
    }
  }

  /** Removes unfinished outputs. Nobody processes this file any more. */
  async #clearWork(fileId: string): Promise<void> {
    for (const name of await namesIn(this.#folder(fileId)))
      if (name.startsWith(WORK)) await rm(join(this.#folder(fileId), name), { recursive: true, force: true })
  }

  /** Uses the id's first two digits as a subfolder: file systems are slow with a million names in one folder. */
  #folder(fileId: string): string {
    return join(this.#root, fileId.slice(0, 2), fileId)
  }

  async #made(...parts: string[]): Promise<string> {
    const folder = join(...parts)
    await makeDurableFolder(folder, 0o700)
    return folder
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => [])
}

async function removeIfStale(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found && found.mtimeMs < Date.now() - STALE_MS) await rm(path, { recursive: true, force: true })
}
