import { closeSync, fsyncSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'

/** Errors of file systems that cannot sync a folder, or of a folder that the user may write but not read. */
const CANNOT: ReadonlySet<string> = new Set([
  ...['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EBADF', 'EISDIR', 'EPERM', 'EACCES'],
])

/**
 * Flushes the names in a folder to disk: created, renamed and removed files. Their bytes need `syncFile`. Does nothing
 * on a file system that does not support it.
 *
 * @throws the file system's error if it supports the call and fails, for example EIO
 */
export async function syncFolder(path: string): Promise<void> {
  try {
    await using folder = await open(path, 'r')
    await folder.sync()
  } catch (error) {
    ignoreUnsupported(error)
  }
}

/** Synchronous {@link syncFolder}, for files that are opened at start-up. */
export function syncFolderNow(path: string): void {
  try {
    const folder = openSync(path, 'r')
    try {
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  } catch (error) {
    ignoreUnsupported(error)
  }
}

function ignoreUnsupported(error: unknown): void {
  if (!CANNOT.has(String((error as NodeJS.ErrnoException).code))) throw error
}

/** Flushes the bytes of a file to disk. `syncFolder` flushes its name. */
export async function syncFile(path: string): Promise<void> {
  await using file = await open(path, 'r+')
  await file.sync()
}
