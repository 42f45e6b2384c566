import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { makeFolder } from './make-folder.js'

/** Age at which a folder of another host is removed. A job may wait for days, and keeps its input there. */
const FOREIGN_MS = 7 * 24 * 3600 * 1000

/**
 * Makes a private folder that belongs to this process, and removes those of processes that are gone. Containers that
 * share the parent have other hosts and the same process numbers.
 *
 * @param parent of all such folders, created when it is needed
 * @param prefix of their names
 */
export async function makeProcessFolder(parent: string, prefix = ''): Promise<string> {
  makeFolder(parent, 0o700)
  await processFolders(parent, prefix)
  return mkdtemp(join(parent, `${prefix}${hostname()}-${process.pid}-`))
}

/** Paths of the folders that belong to processes, after the removal of those whose process is gone. */
export async function processFolders(parent: string, prefix: string): Promise<readonly string[]> {
  const living: string[] = []
  for (const name of await readdir(parent)) {
    const [, host, pid] = name.startsWith(prefix) ? (/^(.+)-(\d+)-[^-]+$/.exec(name.slice(prefix.length)) ?? []) : []
    if (host === undefined) continue
    const path = join(parent, name)
    const isLeft = host === hostname() ? !isAlive(Number(pid)) : await isOld(path)
    if (!isLeft) living.push(path)
    // A folder of another user stays, because no job may fail for it.
    else await rm(path, { recursive: true, force: true }).catch(ignoreForeign)
  }
  return living
}

function ignoreForeign(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPERM' && error.code !== 'EACCES') throw error
}

/** A process of another user also counts. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function isOld(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs > FOREIGN_MS
}
