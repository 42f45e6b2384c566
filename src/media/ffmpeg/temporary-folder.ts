import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { makeProcessFolder } from '../../core/process-folder.js'

/**
 * Makes a folder among the temporary files of the system. It is removed, with what it holds, at the end of the block that
 * made it with `await using`. A killed process cannot do that, so the next one with this prefix does.
 *
 * @param prefix of its name
 */
export async function temporaryFolder(prefix: string) {
  const path = await makeProcessFolder(tmpdir(), prefix)
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
