import { lstat, readdir, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileFacts, isGone } from '../candidates/file-facts.js'
import { isMovedTo, numbered } from './move-source.js'
import { giveBack } from './moved-aside.js'

/** Begins the names under which NFS keeps removed files that a program still reads. They vanish by themselves. */
const REMOVED = '.nfs'

/** Age of a folder that a killed process left. A living process keeps it for milliseconds. */
const LEFT_MS = 60_000

/**
 * Completes the move that a process did not finish because it was killed. The file goes if it has its new name.
 * Otherwise it gets its old name back, or a numbered one if another file has that. The scan decides what becomes of it.
 *
 * @param root the watched folder
 * @param path of the hidden folder within the root, see `isAside`
 * @param done folder of moved sources
 */
export async function restoreAside(root: string, path: string, done: string): Promise<void> {
  const folder = join(root, path)
  try {
    if (Date.now() - (await lstat(folder)).mtimeMs < LEFT_MS) return
    for (const name of await readdir(folder)) {
      if (name.startsWith(REMOVED)) continue
      const aside = join(folder, name)
      const facts = await fileFacts(aside)
      const isMoved = facts !== undefined && (await isMovedTo(done, join(dirname(path), name), facts))
      for (let count = 1; !isMoved && !(await giveBack(aside, numbered(name, count))); ) count++
      await rm(aside)
    }
    if ((await readdir(folder)).length === 0) await rmdir(folder)
  } catch (error) {
    // Another process does the same.
    if (!isGone(error)) throw error
  }
}
