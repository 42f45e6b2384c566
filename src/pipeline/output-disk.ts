import { stat } from 'node:fs/promises'
import { TransientError } from '../core/errors.js'

/** Device of the disk or share that a folder lies on: a number that another mount in its place does not have. */
export async function diskOf(folder: string): Promise<number> {
  return (await stat(folder)).dev
}

/**
 * Makes sure that a folder lies on the disk that its job began with. A job can wait for hours at the service: where the
 * share of its output is unmounted meanwhile, the bare place is a folder that can be written to, and what would be
 * published there nobody sees once the share is back.
 *
 * @throws {TransientError} `ERR_STORAGE_AWAY`
 */
export async function requireOnDisk(folder: string, disk: number): Promise<void> {
  if ((await diskOf(folder)) === disk) return
  throw new TransientError('ERR_STORAGE_AWAY', `${folder} is on another disk than when its job began.`, {
    input: folder,
    remedies: ['Mount the share again, then run again: what was paid for is kept.'],
  })
}
