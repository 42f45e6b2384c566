import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { storageAway, UsageError, type VoxmuxError } from '../../core/errors.js'

/**
 * Turns a missing input into the right fault for a daemon. If its folder is missing too, a share is away and will come
 * back. Otherwise the file was deleted or renamed.
 */
export async function missingInput(input: string, cause?: unknown): Promise<VoxmuxError> {
  const hasFolder = await stat(dirname(input)).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!hasFolder) return storageAway(dirname(input), { cause, input })
  return new UsageError('ERR_INPUT_MISSING', `${input} does not exist.`, {
    cause,
    input,
    remedies: ['Check the spelling of the path.'],
  })
}
