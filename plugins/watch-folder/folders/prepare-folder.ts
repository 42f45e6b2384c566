import { stat } from 'node:fs/promises'
import { systemCode, UsageError } from '../../../src/core/errors.js'
import { makeDurableFolder, nearestExisting, reasonAgainstFolder } from '../../../src/core/make-folder.js'
import { withDeadline } from '../../../src/core/waiting.js'
import type { Aftercare, WatchedFolder } from '../watched-folder.js'
import { requireInside } from './require-inside.js'

/** A dead share responds after minutes or never. */
const LOOK_MS = 5000

/**
 * Makes the folders of outputs, reports and moved sources of a root that exists.
 *
 * @returns those that cannot be made or used now, each with the reason: a person may repair it while the daemon runs
 * @throws {UsageError} `ERR_WATCH_FOLDER` if sources would be overwritten, could not be moved, or a link in the root
 * leads out of it
 */
export async function prepareFolder(folder: Aftercare): Promise<ReadonlyMap<string, string>> {
  const { path, out, failed, done, source } = folder
  // A drive of Windows may be a card of recordings, but this is the whole machine.
  if (path === '/')
    throw new UsageError('ERR_WATCH_FOLDER', '/ cannot be watched: it is the root of the file system.', {
      input: path,
      remedies: ['Name the folder that gets the recordings. All audio and video below it is regenerated.'],
    })
  const clash = Object.entries({ out, failed, done }).find(([, place]) => place === path)
  if (clash) throw wrongFolder(folder, `its "${clash[0]}" folder is the folder itself`)
  const root = await stat(path)
  const unmade = new Map<string, string>()
  for (const place of [out, failed, ...(source === 'move' ? [done] : [])]) {
    await requireInside(path, place)
    const reason = await make(folder, place)
    if (reason !== undefined) unmade.set(place, reason)
  }
  if (source === 'move' && (await stat(await nearestExisting(done))).dev !== root.dev)
    throw wrongFolder(folder, `${done}, the folder for its sources, is on another disk`)
  return unmade
}

/**
 * Refuses folders if none of them exists or ever did, and waiting cannot help: a file has the name, or nothing waits.
 *
 * @throws {UsageError} `ERR_INPUT_MISSING`
 */
export async function refuseUnknown(
  folders: readonly WatchedFolder[],
  wasSeen: (folder: WatchedFolder) => boolean,
  { waits }: { readonly waits: boolean },
): Promise<void> {
  const found = await Promise.all(folders.map(({ path }) => stat(path).catch(() => undefined)))
  const [first] = folders
  if (!first || found.some((stats) => stats?.isDirectory()) || folders.some(wasSeen)) return
  const input = first.path
  if (waits && !found[0]) return
  if (found[0])
    throw new UsageError('ERR_INPUT_MISSING', `${input} is not a folder, and only folders can be watched.`, {
      input,
      remedies: ['Name the folder that contains it, or regenerate only this file with `voxmux run`.'],
    })
  throw new UsageError('ERR_INPUT_MISSING', `The folder ${input} does not exist.`, {
    input,
    remedies: ['Check the path, or mount the share first.'],
  })
}

/**
 * Refuses a folder that is watched under two names: each of its files would be two jobs. A folder that is away is not
 * compared.
 *
 * @throws {UsageError} `ERR_WATCH_FOLDER`
 */
export async function refuseSameFolder(folders: readonly WatchedFolder[]): Promise<void> {
  const known = new Map<string, string>()
  const looks = folders.map(({ path }) => withDeadline(stat(path, { bigint: true }), LOOK_MS, () => undefined))
  const found = await Promise.all(looks.map((look) => look.catch(() => undefined)))
  for (const [index, { path }] of folders.entries()) {
    const stats = found[index]
    if (!stats?.isDirectory()) continue
    const identity = `${stats.dev}:${stats.ino}`
    const other = known.get(identity)
    if (other !== undefined && other !== path)
      throw new UsageError('ERR_WATCH_FOLDER', `${path} is the same folder as ${other}, by another name.`, {
        input: path,
        remedies: ['Name it once.'],
      })
    known.set(identity, path)
  }
}

/** @returns why the folder cannot be made now; undefined if it is there */
async function make(folder: Aftercare, place: string): Promise<string | undefined> {
  try {
    await makeDurableFolder(place)
    return undefined
  } catch (cause) {
    const { message } = cause as NodeJS.ErrnoException
    const code = systemCode(cause)
    if (code === 'ENOSPC' || code === 'EDQUOT') return 'the disk is full'
    if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') return reasonAgainstFolder(cause)
    const why = code === 'EEXIST' || code === 'ENOTDIR' ? 'it is a file, or lies below one' : message
    throw wrongFolder(folder, `${place} cannot be a folder (${why})`, cause)
  }
}

function wrongFolder({ path }: Aftercare, why: string, cause?: unknown): UsageError {
  return new UsageError('ERR_WATCH_FOLDER', `${path} cannot be watched: ${why}.`, {
    cause,
    input: path,
    remedies: ['Choose another folder, with --out and --failed or in the configuration.'],
  })
}
