import { stat } from 'node:fs/promises'
import { dirname, sep } from 'node:path'
import { storageAway, TransientError, toVoxmuxError, UsageError, type VoxmuxError } from '../../core/errors.js'
import { requireWritableFolder } from './part-file.js'

/**
 * Turns a missing input into the right fault for a daemon. If its folder is missing too, a share is away and will come
 * back. Otherwise the file was deleted or renamed.
 */
export async function missingInput(input: string, cause?: unknown): Promise<VoxmuxError> {
  if (!(await hasFolder(input))) return storageAway(dirname(input), { cause, input })
  return new UsageError('ERR_INPUT_MISSING', `${input} does not exist.`, {
    cause,
    input,
    remedies: ['Check the spelling of the path.'],
  })
}

/** The same for an input that was there when its job began, so that nothing is wrong with its path. */
export async function vanishedInput(input: string, cause?: unknown): Promise<VoxmuxError> {
  if (!(await hasFolder(input))) return storageAway(dirname(input), { cause, input })
  return new UsageError('ERR_INPUT_MISSING', `${input} was moved or deleted before voxmux had finished with it.`, {
    cause,
    input,
    remedies: ['Put the file back, then run again. You do not pay again for anything already paid.'],
  })
}

async function hasFolder(input: string): Promise<boolean> {
  const found = await stat(dirname(input)).catch(() => undefined)
  return found?.isDirectory() === true
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
