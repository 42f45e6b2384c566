import type { BigIntStats } from 'node:fs'
import { lstat } from 'node:fs/promises'

/** What the file system says of a file, for telling one state of it from another. */
export interface FileFacts {
  readonly sizeBytes: number
  /** Nanoseconds since 1970, of the last change of content; on a share, by the server's clock. */
  readonly mtimeNs: bigint
  /** The same of the last change of anything about the file, its name included. */
  readonly ctimeNs: bigint
  /** Bytes that the file occupies on its disk. */
  readonly allocatedBytes: number
  readonly dev: bigint
  readonly ino: bigint
}

/**
 * Facts of a regular file; undefined where there is none at that path.
 *
 * @throws what the file system says where it cannot tell: EACCES, EIO, ESTALE, EMFILE
 */
export async function fileFacts(path: string): Promise<FileFacts | undefined> {
  try {
    const stats = await lstat(path, { bigint: true })
    return stats.isFile() ? factsOf(stats) : undefined
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** True for the fault that says: there is nothing at that path. */
export function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))
}

function factsOf({ size, mtimeNs, ctimeNs, blocks, dev, ino }: BigIntStats): FileFacts {
  return { sizeBytes: Number(size), mtimeNs, ctimeNs, allocatedBytes: Number(blocks) * 512, dev, ino }
}

/**
 * True where the file may have been written to between two looks. A growing allocation counts, since a file whose full
 * size was reserved grows in nothing else; a shrinking one does not, since file systems tidy up by themselves.
 */
export function hasChanged(before: FileFacts, now: FileFacts): boolean {
  return (
    before.sizeBytes !== now.sizeBytes ||
    before.mtimeNs !== now.mtimeNs ||
    before.ctimeNs !== now.ctimeNs ||
    before.allocatedBytes < now.allocatedBytes
  )
}

/** True where content, as far as the file system tells, is the same: a rename changes the ctime alone. */
export function isSameVersion(before: FileFacts, now: FileFacts): boolean {
  return before.sizeBytes === now.sizeBytes && before.mtimeNs === now.mtimeNs && before.ino === now.ino
}
