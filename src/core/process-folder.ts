import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Makes a private folder that belongs to this process, and removes those of processes that are gone.
 *
 * @param parent of all such folders, created when it is needed
 */
export async function makeProcessFolder(parent: string): Promise<string> {
  await mkdir(parent, { recursive: true, mode: 0o700 })
  for (const name of await readdir(parent)) {
    const [, pid] = /^(\d+)-/.exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(parent, name), { recursive: true, force: true })
  }
  return mkdtemp(join(parent, `${process.pid}-`))
}

/** A process of another user also counts. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
