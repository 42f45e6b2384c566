import { readdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isMediaName } from '../pipeline/plan/expand-inputs.js'

const MOST_ENTRIES = 1000

/**
 * Lists the folders and then the media files of a folder by name, without the hidden ones.
 *
 * @returns what the page shows: the root has no parent, and `hasMore` tells that entries are left out
 * @throws the file system's error
 */
export async function listFolder(wanted: string) {
  const path = resolve(wanted)
  const names = (await readdir(path)).filter((name) => !name.startsWith('.'))
  names.sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))
  const found = await Promise.all(names.map((name) => entryOf(path, name)))
  const shown = found.filter((entry) => entry !== null)
  const entries = [...shown.filter(({ kind }) => kind === 'folder'), ...shown.filter(({ kind }) => kind === 'file')]
  const parent = dirname(path)
  return {
    path,
    parent: parent === path ? null : parent,
    entries: entries.slice(0, MOST_ENTRIES),
    hasMore: entries.length > MOST_ENTRIES,
  }
}

/** Null for a file that is not media, and for a link that leads nowhere. */
async function entryOf(folder: string, name: string) {
  const path = join(folder, name)
  const found = await stat(path).catch(() => null)
  if (found?.isDirectory()) return { name, path, kind: 'folder', sizeBytes: null }
  return found?.isFile() && isMediaName(name) ? { name, path, kind: 'file', sizeBytes: found.size } : null
}
