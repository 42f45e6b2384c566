import { lstat } from 'node:fs/promises'

/** The facts of a file that tell one state of it from another. */
export interface FileFacts {
  readonly sizeBytes: number
  /** Nanoseconds since 1970 of the last change of content; on a share, by the server's clock. */
  readonly mtimeNs: bigint
  /** The same for the last change of anything about the file, its name included. */
  readonly ctimeNs: bigint
  /** Bytes that the file occupies on its disk. */
  readonly allocatedBytes: number
  readonly dev: bigint
  readonly ino: bigint
}

/**
 * The facts of a regular file; undefined if there is none at that path.
 *
 * @throws the file system's error if it cannot tell: EACCES, EIO, ESTALE, EMFILE
 */
export async function fileFacts(path: string): Promise<FileFacts | undefined> {
  try {
    const stats = await lstat(path, { bigint: true })
    if (!stats.isFile()) return undefined
    const { size, mtimeNs, ctimeNs, blocks, dev, ino } = stats
    return { sizeBytes: Number(size), mtimeNs, ctimeNs, allocatedBytes: Number(blocks) * 512, dev, ino }
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** True for the error that means that nothing is at that path. */
export function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException | undefined)?.code))
}

/**
 * True if the file may have been written to between two checks. A growing allocation counts, because nothing else grows
 * in a file whose full size was reserved. A shrinking one does not, because file systems tidy up by themselves.
 */
export function hasChanged(before: FileFacts, now: FileFacts): boolean {
  return (
    before.sizeBytes !== now.sizeBytes ||
    before.mtimeNs !== now.mtimeNs ||
    before.ctimeNs !== now.ctimeNs ||
    before.allocatedBytes < now.allocatedBytes
  )
}

/** True if the content is the same by the facts of the file system. A rename changes only the ctime. */
export function isSameVersion(before: Pick<FileFacts, 'sizeBytes' | 'mtimeNs' | 'ino'>, now: FileFacts): boolean {
  return before.sizeBytes === now.sizeBytes && before.mtimeNs === now.mtimeNs && before.ino === now.ino
}
