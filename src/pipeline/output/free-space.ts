import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { OTHER_DISK, outputTooLarge, TransientError, VoxmuxError } from '../../core/errors.js'
import { nearestExisting } from '../../core/make-folder.js'
import type { JobPlan } from '../plan/plan-job.js'

/** Checks free space before paying. @param neededBytes by folder @throws {TransientError} `ERR_DISK_FULL` */
export async function requireFreeSpace(neededBytes: ReadonlyMap<string, number>): Promise<void> {
  const byDisk = new Map<number, { folder: string; needed: number }>()
  for (const [folder, needed] of neededBytes) {
    const { dev } = await stat(folder)
    byDisk.set(dev, { folder, needed: (byDisk.get(dev)?.needed ?? 0) + needed })
  }
  for (const { folder, needed } of byDisk.values()) {
    const { bavail, bsize } = await statfs(folder)
    const free = bavail * bsize
    if (free < needed) throw noSpace(folder, undefined, spaceNeeded(needed, free))
  }
}

/** Type of FAT in `statfs` on Linux, and its largest file. */
const FAT = { type: 0x4d44, mostBytes: 2 ** 32 - 1 }

/** Checks before paying that an output fits into FAT, if that is its file system. @throws {UsageError} `ERR_OUTPUT_TOO_LARGE` */
export async function requireLargeDisk({ media, mux, output }: JobPlan): Promise<void> {
  // Another container may be smaller.
  if (mux.container !== media.container) return
  requireLargeFile(output, media.sizeBytes, await statfs(await nearestExisting(dirname(output))))
}

/** The same for a file of that size on a disk of that type. @throws {UsageError} `ERR_OUTPUT_TOO_LARGE` */
export function requireLargeFile(output: string, sizeBytes: number, { type }: { readonly type: number }): void {
  if (type === FAT.type && sizeBytes > FAT.mostBytes) throw outputTooLarge(output, { input: output })
}

/** Share of the free space that a download may fill. Its sender alone knows its length, and may never end. */
const DOWNLOAD_SHARE = 0.9

/**
 * Runs a download that leaves space on the disk of its folder.
 *
 * @param what is downloaded, for messages
 * @throws {TransientError} `ERR_DISK_FULL` if it is larger
 */
export async function withinFreeSpace<T>(
  folder: string,
  what: string,
  download: (maxBytes: number) => Promise<T>,
): Promise<T> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  try {
    return await download(Math.floor(DOWNLOAD_SHARE * free))
  } catch (error) {
    if (!(error instanceof VoxmuxError) || error.code !== 'ERR_DOWNLOAD_TOO_LARGE') throw error
    throw noSpace(
      folder,
      error,
      `${what} takes more than nine tenths of the ${Math.floor(free / 1e6)} MB that are free`,
    )
  }
}

/** The fault of a full disk. */
export function noSpace(folder: string, cause: unknown, detail?: string): TransientError {
  return new TransientError('ERR_DISK_FULL', `Not enough space in ${folder}${detail ? `: ${detail}` : ''}.`, {
    cause,
    input: folder,
    remedies: ['Free some space on that disk, then run again.', OTHER_DISK],
  })
}

/** Says that a disk has free bytes and no room for another file; undefined for any other disk. */
export async function inodeShortage(folder: string): Promise<string | undefined> {
  const { files, ffree } = await statfs(folder)
  return files > 0 && ffree === 0 ? 'its inodes are all in use, so it takes no other file, however small' : undefined
}

/** Rounds so that the words never say that there is enough: the need up, the free bytes down. */
export function spaceNeeded(neededBytes: number, freeBytes: number): string {
  return `${Math.ceil(neededBytes / 1e6)} MB needed, ${Math.floor(freeBytes / 1e6)} MB free`
}
