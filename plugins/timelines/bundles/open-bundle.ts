import { createWriteStream } from 'node:fs'
import { type FileHandle, open, readdir, realpath, rm, rmdir, stat, utimes } from 'node:fs/promises'
import { dirname, join, posix, relative, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { UsageError } from '../../../src/core/errors.js'
import { fileSha256, isSameState, quickIdentity } from '../../../src/core/file-identity.js'
import { makeFolder } from '../../../src/core/make-folder.js'
import { inputChanged } from '../../../src/pipeline/input-guard.js'
import { publish } from '../../../src/pipeline/output/publish.js'
import { hiddenPart } from '../hidden-part.js'
import type { TimelineFile } from '../read-timeline.js'
import type { TimelineSource } from '../timeline.js'
import { unreadableTimeline } from '../timeline-error.js'
import type { Bundle } from './bundle.js'
import { type FolderUse, useFolder } from './folder-use.js'
import { readZipDirectory } from './zip-directory.js'
import { entryContent, entryExtents } from './zip-entry.js'
import { timeOfDos, type ZipEntry } from './zip-format.js'

/**
 * Opens the media of a bundle. Those that the timeline plays are unpacked from an archive, because ffmpeg reads files.
 * Other entries stay in the archive, and so does every entry whose name leads out of the folder.
 *
 * @param folder for what is unpacked, and for the regenerated files
 * @returns null for a timeline without media of its own
 * @throws {UsageError} `ERR_TIMELINE_UNREADABLE`; `ERR_OUTPUT_EXISTS` if another file is where one is unpacked
 */
export async function openBundle(
  { path, textPath, extension }: TimelineFile,
  sources: readonly TimelineSource[],
  folder: string,
): Promise<Bundle | null> {
  if (extension === '.otiod' && textPath !== path) {
    const requireSame = await sameAsNow(path, textPath)
    const entries = await readdir(path, { recursive: true, withFileTypes: true })
    const names = entries.map((entry) => relative(path, join(entry.parentPath, entry.name)).split(sep).join('/'))
    return { folder: await realpath(path), names: new Set(names), requireSame, release: async () => {} }
  }
  if (extension !== '.otioz') return null
  try {
    return await unpack(path, sources, folder)
  } catch (cause) {
    throw cause instanceof SyntaxError ? unreadableTimeline(path, cause) : cause
  }
}

async function unpack(archive: string, sources: readonly TimelineSource[], folder: string): Promise<Bundle> {
  const requireSame = await sameAsNow(archive)
  const file = await open(archive, 'r')
  const places = new Set<string>()
  const unpacked = new Set<string>()
  let use: FolderUse | undefined
  const release = async () => {
    for (const path of (await use?.end([...unpacked])) ?? []) await rm(path, { force: true })
    for (const path of places) await removeFolders(dirname(path), folder)
  }
  try {
    const directory = await readZipDirectory(file)
    // Before anything is paid for: such an archive could not be written again.
    const entries = (await entryExtents(file, directory)).map(({ entry }) => entry)
    const wanted = new Set(sources.flatMap(({ paths }) => paths).map((path) => posix.normalize(path)))
    makeFolder(folder)
    use = await useFolder(folder)
    // The last of two entries with one name counts.
    for (const entry of new Map(entries.map((one) => [one.name, one])).values()) {
      const target = resolve(folder, entry.name)
      const isSafe = target.startsWith(resolve(folder) + sep) && !/[\\\0]/.test(entry.name)
      if (!wanted.has(entry.name) || !isSafe) continue
      places.add(target)
      // A run that ended just before this one began may still be removing its files.
      for (let isThere = false; !isThere; isThere = (await stat(target).catch(() => null)) !== null) {
        makeFolder(dirname(target))
        await hiddenPart(target, async (part) => {
          await unpackEntry(file, entry, part)
          if (await takeName(part, target)) unpacked.add(target)
        })
      }
    }
    const names = new Set(entries.map(({ name }) => name))
    return { folder: await realpath(folder), names, requireSame, release }
  } catch (error) {
    await release()
    throw error
  } finally {
    await file.close()
    await rmdir(folder).catch(() => {})
  }
}

/** Checks whether a bundle is as it is now. @param file of the bundle that is written with it */
async function sameAsNow(bundle: string, file = bundle): Promise<Bundle['requireSame']> {
  const before = await quickIdentity(file)
  return async () => {
    const now = await quickIdentity(file).catch(() => undefined)
    if (!isSameState(before, now)) throw inputChanged(bundle)
  }
}

/**
 * Gives an unpacked file its name. The same file may be there already: another run uses it, or a killed one left it.
 *
 * @returns true if it is new, and goes with the bundle
 * @throws {UsageError} `ERR_OUTPUT_EXISTS` if another file is there
 */
async function takeName(part: string, target: string): Promise<boolean> {
  try {
    await publish(part, target, { replace: false })
    return true
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    if ((await stat(target)).isFile() && (await fileSha256(target)) === (await fileSha256(part))) return false
    throw new UsageError('ERR_OUTPUT_EXISTS', `${target} exists, and is not the file that the bundle holds under it.`, {
      input: target,
      remedies: ['Move it away, or choose another folder with --output.'],
    })
  }
}

/** The time of the entry makes it the same file after the next unpacking. */
async function unpackEntry(file: FileHandle, entry: ZipEntry, part: string): Promise<void> {
  await pipeline(await entryContent(file, entry), createWriteStream(part, { flags: 'wx' }))
  const time = timeOfDos(entry.dosTime)
  await utimes(part, time, time)
}

/** Removes a folder and those above it, as long as they hold nothing. */
async function removeFolders(from: string, folder: string): Promise<void> {
  for (let at = from; at === folder || at.startsWith(folder + sep); at = dirname(at)) {
    const isRemoved = await rmdir(at).then(
      () => true,
      () => false,
    )
    if (!isRemoved) return
  }
}
