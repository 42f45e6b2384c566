import { lstat, realpath } from 'node:fs/promises'
import { dirname, sep } from 'node:path'
import { UsageError } from '../../../src/core/errors.js'

/**
 * Says in one sentence why a folder must not be written to: a symlink below the named folder leads out of it or nowhere.
 * Null if none does. The named folder may be a link itself. A place that is not below it by its path was named by a
 * person too.
 *
 * @param named absolute path of the watched folder, or of its folder for outputs, reports or moved sources
 * @param place absolute path; it need not exist
 */
export async function linkOut(named: string, place: string): Promise<string | null> {
  if (!isBelow(named, place)) return null
  const root = await realpath(named).catch(() => null)
  // Nothing exists below a folder that does not exist, so there is no link either.
  if (root === null) return null
  const target = await targetOf(place)
  if (target === null) return `${place} is or lies behind a symlink that leads nowhere.`
  if (target === root || isBelow(root, target)) return null
  return `${place} leads out of ${named} through a symlink.`
}

/** Requires that no symlink leads out of a folder, see {@link linkOut}. @throws {UsageError} `ERR_WATCH_FOLDER` */
export async function requireInside(named: string, place: string): Promise<void> {
  const reason = await linkOut(named, place)
  if (reason === null) return
  throw new UsageError('ERR_WATCH_FOLDER', reason, {
    input: place,
    remedies: [
      'Replace the symlink with a folder.',
      'If the files belong there, name that folder with --out or --failed, or with the keys "out", "failed" and "done".',
    ],
  })
}

/** The place that a path leads to, or its nearest parent that exists does. Null for a link that leads nowhere. */
async function targetOf(place: string): Promise<string | null> {
  for (let path = place; ; path = dirname(path)) {
    const target = await realpath(path).catch(() => null)
    if (target !== null || dirname(path) === path) return target
    if (await lstat(path).catch(() => null)) return null
  }
}

/** True if an absolute path is below an absolute folder, links not followed. */
export function isBelow(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
