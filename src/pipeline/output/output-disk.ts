import { stat } from 'node:fs/promises'
import { TransientError } from '../../core/errors.js'

/** Device number of the disk or share that a folder is on. Another mount in its place has another number. */
export async function diskOf(folder: string): Promise<number> {
  const found = await stat(folder).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ENOENT' ? folderGone(folder, cause) : cause
  })
  return found.dev
}

/**
 * Requires that a folder is still on the disk on which its job began. A job can wait for hours at the service. If the
 * output's share is unmounted meanwhile, its mount point is an ordinary folder. A file published there would be hidden
 * as soon as the share returns.
 *
 * @throws {TransientError} `ERR_STORAGE_AWAY`
 */
export async function requireOnDisk(folder: string, disk: number): Promise<void> {
  if ((await diskOf(folder)) === disk) return
  throw new TransientError('ERR_STORAGE_AWAY', `${folder} is on a different disk than when the job began.`, {
    input: folder,
    remedies: ['Mount the share again, then run again. You do not pay twice.'],
  })
}

function folderGone(folder: string, cause: unknown): TransientError {
  return new TransientError('ERR_STORAGE_AWAY', `The output folder ${folder} no longer exists.`, {
    cause,
    input: folder,
    remedies: ['Create it again or mount its share, then run again. You do not pay twice.'],
  })
}
