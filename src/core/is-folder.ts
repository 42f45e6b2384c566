import { stat } from 'node:fs/promises'

/** True if the path is a folder or a link to one; false if it cannot be read. */
export function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
