import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { type FileHandle, open, readdir, realpath, rename, rm, rmdir, utimes } from 'node:fs/promises'
import { dirname, join, posix, relative, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { makeFolder } from '../../../src/core/make-folder.js'
import type { TimelineFile } from '../read-timeline.js'
import type { TimelineSource } from '../timeline.js'
import { unreadableTimeline } from '../timeline-error.js'
import type { Bundle } from './bundle.js'
import { readZipDirectory } from './zip-directory.js'
import { entryContent, entryExtents } from './zip-entry.js'
import type { ZipEntry } from './zip-format.js'
import { timeOfDos } from './zip-time.js'

/**
 * Opens the media of a bundle. Those that the timeline plays are unpacked from an archive, because ffmpeg reads files.
 * Other entries stay in the archive, and so does every entry whose name leads out of the folder.
 *
 * @param folder for what is unpacked, and for the regenerated files
 * @returns null for a timeline without media of its own
 * @throws {UsageError} `ERR_TIMELINE_UNREADABLE`
 */
export async function openBundle(
  { path, textPath, extension }: TimelineFile,
  sources: readonly TimelineSource[],
  folder: string,
): Promise<Bundle | null> {
  if (extension === '.otiod' && textPath !== path) {
    const entries = await readdir(path, { recursive: true, withFileTypes: true })
    const names = entries.map((entry) => relative(path, join(entry.parentPath, entry.name)).split(sep).join('/'))
    return { folder: await realpath(path), names: new Set(names), release: async () => {} }
  }
  if (extension !== '.otioz') return null
  try {
    return await unpack(path, sources, folder)
  } catch (cause) {
    throw cause instanceof SyntaxError ? unreadableTimeline(path, cause) : cause
  }
}

async function unpack(archive: string, sources: readonly TimelineSource[], folder: string): Promise<Bundle> {
  const file = await open(archive, 'r')
  const unpacked: string[] = []
  const release = async () => {
    for (const path of unpacked) await removeWithFolders(path, folder)
  }
  try {
    const directory = await readZipDirectory(file)
    // Before anything is paid for: such an archive could not be written again.
    const entries = (await entryExtents(file, directory)).map(({ entry }) => entry)
    const wanted = new Set(sources.flatMap(({ paths }) => paths).map((path) => posix.normalize(path)))
    makeFolder(folder)
    for (const entry of entries) {
      const target = resolve(folder, entry.name)
      const isSafe = target.startsWith(resolve(folder) + sep) && !/[\\\0]/.test(entry.name)
      if (!wanted.has(entry.name) || !isSafe) continue
      unpacked.push(target)
      const part = join(dirname(target), `.voxmux-${randomUUID()}.part`)
      try {
        makeFolder(dirname(target))
        await unpackEntry(file, entry, part)
        await rename(part, target)
      } finally {
        await rm(part, { force: true })
      }
    }
    return { folder: await realpath(folder), names: new Set(entries.map(({ name }) => name)), release }
  } catch (error) {
    await release()
    throw error
  } finally {
    await file.close()
    await rmdir(folder).catch(() => {})
  }
}

/** The time of the entry makes it the same file after the next unpacking. */
async function unpackEntry(file: FileHandle, entry: ZipEntry, part: string): Promise<void> {
  await pipeline(await entryContent(file, entry), createWriteStream(part, { flags: 'wx' }))
  const time = timeOfDos(entry.dosTime)
  await utimes(part, time, time)
}

/** Folders that hold nothing else go with it. */
async function removeWithFolders(path: string, folder: string): Promise<void> {
  await rm(path, { force: true })
  for (let at = dirname(path); at === folder || at.startsWith(folder + sep); at = dirname(at)) {
    const isRemoved = await rmdir(at).then(
      () => true,
      () => false,
    )
    if (!isRemoved) return
  }
}
