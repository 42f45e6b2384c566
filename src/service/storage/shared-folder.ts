import { randomUUID } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { UsageError } from '../../core/errors.js'
import { makeDurableFolder } from '../../core/make-folder.js'
import type { ServiceStore } from '../store/service-store.js'

/** Name of the file that identifies the folder. */
const MARK = 'storage-id'

/**
 * Requires that this folder is the one that all nodes of the store share. If a share is not mounted, its mount point is
 * an empty folder, and no other node would see the uploads.
 *
 * @throws {UsageError} `ERR_STORAGE_NOT_SHARED`
 */
export async function requireSharedFolder(dataDir: string, store: Pick<ServiceStore, 'keepFirst'>): Promise<void> {
  await makeDurableFolder(dataDir, 0o700)
  const path = join(dataDir, MARK)
  const own = randomUUID()
  const isNew = await writeFile(path, own, { flag: 'wx', mode: 0o600 }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
      return false
    },
  )
  const here = isNew ? own : await written(path)
  if ((await store.keepFirst('storage', here)) === here) return
  if (isNew) await rm(path, { force: true })
  throw new UsageError(
    'ERR_STORAGE_NOT_SHARED',
    `${dataDir} is not the folder that the other nodes of the store share.`,
    {
      remedies: [
        'Mount the share, or set its folder with --data.',
        `If you moved the files, move the file ${MARK} along with them.`,
      ],
    },
  )
}

/** Reads the id, which another node may be writing at this moment. */
async function written(path: string): Promise<string> {
  for (let tries = 0; tries < 20; tries += 1) {
    const text = (await readFile(path, 'utf8')).trim()
    if (text !== '') return text
    await delay(50)
  }
  return ''
}
