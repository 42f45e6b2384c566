import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolder } from './sync-folder.js'

/**
 * Makes a folder and those above it. Node's own `recursive` never ends where a file system answers ENOENT for a
 * parent that is there (`/proc`, some FUSE mounts): here that is an error like any other.
 *
 * @param mode of the folders that are made
 * @returns the folders in which one was made, the outermost first
 * @throws what the file system says, for example EACCES, EROFS, ENOENT, EEXIST where a file stands there
 */
export function makeFolder(path: string, mode = 0o777): readonly string[] {
  const parent = dirname(path)
  try {
    mkdirSync(path, { mode })
    return [parent]
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(path).isDirectory()) return []
    if (code !== 'ENOENT' || parent === path || existsSync(parent)) throw error
    const above = makeFolder(parent, mode)
    return [...above, ...makeFolder(path, mode)]
  }
}

/** As {@link makeFolder}; after a power cut the folder is still there, and what is synced into it can be found. */
export async function makeDurableFolder(path: string, mode?: number): Promise<void> {
  for (const parent of makeFolder(path, mode)) await syncFolder(parent)
}
