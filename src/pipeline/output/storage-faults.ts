import { stat } from 'node:fs/promises'
import { dirname, sep } from 'node:path'
import { storageAway, TransientError, toVoxmuxError, UsageError, type VoxmuxError } from '../../core/errors.js'
import { requireWritableFolder } from './writable-folder.js'

/**
 * Turns a missing input into the right fault for a daemon. If its folder is missing too, a share is away and will come
 * back. Otherwise the file was deleted or renamed.
 */
export function missingInput(input: string, cause?: unknown): Promise<VoxmuxError> {
  return goneOrAway(input, cause, 'does not exist', 'Check the spelling of the path.')
}

/** The same for an input that was there when its job began, so that nothing is wrong with its path. */
export function vanishedInput(input: string, cause?: unknown): Promise<VoxmuxError> {
  const remedy = 'Put the file back, then run again. You do not pay again for anything already paid.'
  return goneOrAway(input, cause, 'was moved or deleted before voxmux had finished with it', remedy)
}

async function goneOrAway(input: string, cause: unknown, what: string, remedy: string): Promise<VoxmuxError> {
  const folder = await stat(dirname(input)).catch(() => undefined)
  if (!folder?.isDirectory()) return storageAway(dirname(input), { cause, input })
  return new UsageError('ERR_INPUT_MISSING', `${input} ${what}.`, { cause, input, remedies: [remedy] })
}

/**
 * The fault of an output folder that a running job met: it is missing, not writable, or was away for a while. Unlike
 * the check before a job, this creates no folder, because that would land on the mount point of a share.
 *
 * @param output absolute path; a folder if it ends in `/`
 * @param error the fault that stopped the job
 * @returns undefined if the folder is in order, so that the fault has another cause
 */
export async function outputFault(output: string, error: VoxmuxError): Promise<TransientError | undefined> {
  const folder = output.endsWith(sep) ? output.slice(0, -sep.length) : dirname(output)
  const found = await stat(folder).catch(() => undefined)
  // The folder came back between the fault and this check, but the file being written there is missing.
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
