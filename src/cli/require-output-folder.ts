import { existsSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { UsageError } from '../core/errors.js'

/**
 * Refuses an output in a folder that does not exist: a mistyped path would otherwise become a new folder. The last part
 * may be missing, because it is the file, or a folder to create.
 *
 * @param output as typed
 * @param cwd base folder of a relative path
 * @throws UsageError `ERR_OUTPUT_FOLDER`, which names the first part that does not exist
 */
export function requireOutputFolder(output: string, cwd: string): void {
  const place = resolve(cwd, output)
  let missing: string | undefined
  for (let folder = dirname(place); !existsSync(folder); folder = dirname(folder)) missing = folder
  if (missing === undefined) return
  throw new UsageError('ERR_OUTPUT_FOLDER', `${missing} does not exist, so ${basename(place)} cannot be saved there.`, {
    input: missing,
    remedies: ['Correct --output, or create the folder first.'],
  })
}
