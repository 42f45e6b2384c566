import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it. Node's own `recursive` never ends where a file system answers ENOENT for a
 * parent that is there (`/proc`, some FUSE mounts): here that is an error like any other.
 *
 * @param mode of the folders that are made
 * @throws what the file system says, for example EACCES, EROFS, ENOENT, EEXIST where a file stands there
 */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(path).isDirectory()) return
    const parent = dirname(path)
    if (code !== 'ENOENT' || parent === path || existsSync(parent)) throw error
    makeFolder(parent, mode)
    mkdirSync(path, { mode })
  }
}
