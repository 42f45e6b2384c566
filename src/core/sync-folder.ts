import { closeSync, fsyncSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'

/** Answers of file systems that cannot sync a folder, and where this user may write into it and not read it. */
const CANNOT: ReadonlySet<string> = new Set([
  ...['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EBADF', 'EISDIR', 'EPERM', 'EACCES'],
])

/**
 * Brings to the disk what was named, renamed or taken away in a folder: that is another thing than the bytes of a file.
 * Where a file system cannot do that, its own order has to do.
 *
 * @throws what the file system says where it can and fails, for example EIO
 */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r')
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  } catch (error) {
    passWhereItCannot(error)
  }
}

/** As {@link syncFolder}, for what is opened before anything else runs. */
export function syncFolderNow(path: string): void {
  try {
    const folder = openSync(path, 'r')
    try {
      fsyncSync(folder)
    } finally {
      closeSync(folder)
    }
  } catch (error) {
    passWhereItCannot(error)
  }
}

function passWhereItCannot(error: unknown): void {
  if (!CANNOT.has(String((error as NodeJS.ErrnoException).code))) throw error
}
