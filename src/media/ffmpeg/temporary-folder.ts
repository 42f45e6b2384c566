import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Makes a folder among the temporary files of the system. It is removed, with what it holds, at the end of the block that
 * made it with `await using`.
 *
 * @param prefix of its name
 */
export async function temporaryFolder(prefix: string) {
  const path = await mkdtemp(join(tmpdir(), prefix))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
