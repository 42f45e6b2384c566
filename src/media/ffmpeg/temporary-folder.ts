import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder that is removed, with what it holds, at the end of the block that made it with `await using`. */
interface TemporaryFolder extends AsyncDisposable {
  readonly path: string
}

/** Makes a folder among the temporary files of the system. @param prefix of its name */
export async function temporaryFolder(prefix: string): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), prefix))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
