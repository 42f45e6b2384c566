import { link, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from '../../core/errors.js'
import { probePath } from '../../pipeline/part-file.js'

/** How an output would get its name: by a link that replaces nothing, or without one. */
export type PublishingWay = 'link' | 'rename'

/**
 * Does with a hidden file what publishing does with a part: writes it and links it to a second name. Where the folder
 * is yet to be made, in the one above it. Leaves nothing behind.
 *
 * @throws {UsageError} `ERR_NOT_PERMITTED` and the like, as the system says
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

/** The folder itself, or the nearest above it that is there. */
async function existing(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => null)
  if (found?.isDirectory()) return folder
  const parent = dirname(folder)
  if (!found && parent !== folder) return existing(parent)
  throw new UsageError('ERR_OUTPUT_UNWRITABLE', `${folder} is a file, not a folder.`, { input: folder })
}
