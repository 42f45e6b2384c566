import { link, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from '../../core/errors.js'
import { probePath } from '../../pipeline/output/part-file.js'

/** The way an output gets its name: a hard link, which never replaces a file, or a rename. */
export type PublishingWay = 'link' | 'rename'

/**
 * Publishes a hidden test file as an output would be: writes it and links it to a second name. Tries the nearest
 * existing parent if the folder does not exist yet. Leaves nothing behind.
 *
 * @throws {UsageError} the system's own fault, such as `ERR_NOT_PERMITTED`
 */
export async function tryPublishing(folder: string): Promise<PublishingWay> {
  const place = await existing(folder)
  const [part, published] = [probePath(place), probePath(place)]
  try {
    await writeFile(part, '')
    return await link(part, published).then(
      () => 'link',
      () => 'rename',
    )
  } finally {
    await rm(part, { force: true })
    await rm(published, { force: true })
  }
}

/** The folder, or its nearest existing parent. */
async function existing(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => null)
  if (found?.isDirectory()) return folder
  const parent = dirname(folder)
  if (!found && parent !== folder) return existing(parent)
  throw new UsageError('ERR_OUTPUT_UNWRITABLE', `${folder} is a file, not a folder.`, { input: folder })
}
