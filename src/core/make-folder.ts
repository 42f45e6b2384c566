import { mkdirSync, statSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { syncFolder } from './sync-folder.js'

/**
 * Makes a folder and its parents. Node's own `recursive` never returns if a file system responds with ENOENT for an
 * existing parent (`/proc`, some FUSE mounts). Here that is an ordinary error.
 *
 * @param mode of the new folders
 * @returns the parents of the new folders, outermost first
 * @throws the file system's error, for example EACCES, EROFS, ENOENT, EEXIST if a file has that name,
 * or ENOTDIR if a parent is not a folder
 */
export function makeFolder(path: string, mode = 0o777): readonly string[] {
  const parent = dirname(path)
  try {
    return makeOne(path, mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error
    // Another process may be making the parent.
    const above = makeFolder(parent, mode)
    return [...above, ...makeOne(path, mode)]
  }
}

/** @returns the parent of a new folder, nothing if the folder exists */
function makeOne(path: string, mode: number): readonly string[] {
  try {
    mkdirSync(path, { mode })
    return [dirname(path)]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && statSync(path).isDirectory()) return []
    throw error
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'its file system is mounted read-only',
  EEXIST: 'a file has that name',
  ENOTDIR: 'a part of its path is not a folder',
  ENOENT: 'it is a link to nothing, or its file system allows no new folders there',
}

/** Why a folder cannot be made or used, in words for users; undefined if they cannot repair it. */
export function reasonAgainstFolder(error: unknown): string | undefined {
  return REASONS[String((error as NodeJS.ErrnoException).code)]
}

/** The path, or its nearest parent that exists. */
export async function nearestExisting(path: string): Promise<string> {
  const isThere = dirname(path) === path || (await stat(path).catch(() => null)) !== null
  return isThere ? path : nearestExisting(dirname(path))
}

/** The path with the links of its existing part resolved. */
export async function realPathOf(path: string): Promise<string> {
  const existing = await nearestExisting(path)
  return join(await realpath(existing).catch(() => existing), relative(existing, path))
}

/** Makes a folder like {@link makeFolder} that survives a power cut. */
export async function makeDurableFolder(path: string, mode?: number): Promise<void> {
  for (const parent of makeFolder(path, mode)) await syncFolder(parent)
}
