import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from './make-folder.js'

/**
 * Makes a private folder that belongs to this process, and removes those of processes that are gone.
 *
 * @param parent of all such folders, created when it is needed
 * @param prefix of their names
 */
export async function makeProcessFolder(parent: string, prefix = ''): Promise<string> {
  makeFolder(parent, 0o700)
  for (const name of await readdir(parent)) {
    const [, pid] = name.startsWith(prefix) ? (/^(\d+)-/.exec(name.slice(prefix.length)) ?? []) : []
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(parent, name), { recursive: true, force: true })
  }
  return mkdtemp(join(parent, `${prefix}${process.pid}-`))
}

/** A process of another user also counts. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
