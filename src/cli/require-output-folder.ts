import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { UsageError } from '../core/errors.js'
import { nearestExisting } from '../core/make-folder.js'

/**
 * Refuses an output in a folder that does not exist: a mistyped path would otherwise become a new folder. The last part
 * may be missing, because it is the file, or a folder to create.
 *
 * @param output as typed
 * @param cwd base folder of a relative path
 * @throws UsageError `ERR_OUTPUT_FOLDER`, which names the first part that does not exist
 */
export async function requireOutputFolder(output: string, cwd: string): Promise<void> {
  const place = resolve(cwd, output)
  const existing = await nearestExisting(dirname(place))
  if (existing === dirname(place)) return
  const [first = ''] = relative(existing, place).split(sep)
  const missing = join(existing, first)
  throw new UsageError('ERR_OUTPUT_FOLDER', `${missing} does not exist, so ${basename(place)} cannot be saved there.`, {
    input: missing,
    remedies: ['Correct --output, or create the folder first.'],
  })
}
