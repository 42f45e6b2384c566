import { stat } from 'node:fs/promises'
import { dirname, sep } from 'node:path'
import { storageAway, TransientError, toVoxmuxError, type VoxmuxError } from '../core/errors.js'
import { requireWritableFolder } from './part-file.js'

/**
 * The fault of the place of an output that a job met in its work: its folder is gone, is closed, or was gone for a
 * while. Unlike a command's check before it begins, it makes no folder: that would stand on the bare place of a share.
 *
 * @param output absolute path; a folder where it ends in `/`
 * @param error what the job stopped with
 * @returns undefined where the place is as it should be, so that the fault is another's
 */
export async function outputFault(output: string, error: VoxmuxError): Promise<TransientError | undefined> {
  const folder = output.endsWith(sep) ? output.slice(0, -sep.length) : dirname(output)
  const found = await stat(folder).catch(() => undefined)
  // It came back between the fault and this look at it: what was being written there is missed.
  if (!found?.isDirectory() || isMissed(error, folder)) return storageAway(folder, { cause: error, input: folder })
  try {
    await requireWritableFolder(folder)
    return undefined
  } catch (thrown) {
    const { code, message, remedies } = toVoxmuxError(thrown, folder)
    return new TransientError(code, message, { cause: error, input: folder, remedies })
  }
}

function isMissed({ cause }: VoxmuxError, folder: string): boolean {
  if (!(cause instanceof Error)) return false
  const { code, path } = cause as NodeJS.ErrnoException
  return code === 'ENOENT' && path !== undefined && path.startsWith(folder + sep)
}
