import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { makeProcessFolder, processFolders } from '../../../src/core/process-folder.js'

/** One run's use of a folder into which several unpack the same bundle. */
export interface FolderUse {
  /**
   * Ends the use. As long as another run uses the folder, that run gets the duty to remove the files.
   *
   * @param unpacked paths of the files that this run has put there
   * @returns paths of the files that are removed now, with those of runs that ended earlier
   */
  end(unpacked: readonly string[]): Promise<readonly string[]>
}

/** Begins a use of a folder. A hidden folder beside it marks the use, and holds the lists of runs that ended earlier. */
export async function useFolder(folder: string): Promise<FolderUse> {
  // Short, because the folder's own name may be as long as names can be.
  const prefix = `.voxmux-${createHash('sha256').update(basename(folder)).digest('hex').slice(0, 16)}-`
  const open = await makeProcessFolder(dirname(folder), prefix)
  return {
    async end(unpacked) {
      // From now on, no other run leaves its list here.
      const mark = join(dirname(open), `.voxmux-${randomUUID()}.part`)
      // A person may have removed it.
      await rename(open, mark).catch(() => mkdir(mark))
      const lists = (await readdir(mark)).map((name) => readFile(join(mark, name), 'utf8'))
      const files = [...unpacked, ...(await Promise.all(lists)).flatMap((text) => JSON.parse(text) as string[])]
      try {
        const list = join(mark, 'list')
        await writeFile(list, JSON.stringify(files))
        for (const other of await processFolders(dirname(folder), prefix))
          if (await isGiven(list, join(other, randomUUID()))) return []
        return files
      } finally {
        await rm(mark, { recursive: true, force: true })
      }
    },
  }
}

/** False if the other run has ended meanwhile. */
async function isGiven(list: string, place: string): Promise<boolean> {
  try {
    await rename(list, place)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
