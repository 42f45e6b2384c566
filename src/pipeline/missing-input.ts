import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { storageAway, UsageError, type VoxmuxError } from '../core/errors.js'

/**
 * What it means to a daemon that an input is not there: where its folder is gone too, a share is away and comes back;
 * where only the file is, it was deleted or has another name by now.
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
    remedies: ['Check the path.'],
  })
}
