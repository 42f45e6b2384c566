import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'

/**
 * Makes a hidden folder beside an output that is being made, and clears those that runs of this machine left when they
 * were killed.
 */
export async function makePartFolder(out: string): Promise<string> {
  const [parent, prefix] = [dirname(out), `.${basename(out)}.voxmux-${hostname()}-`]
  await mkdir(parent, { recursive: true })
  for (const name of await readdir(parent)) {
    const [, pid] = name.startsWith(prefix) ? (/^(\d+)-/.exec(name.slice(prefix.length)) ?? []) : []
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(parent, name), { recursive: true, force: true })
  }
  return mkdtemp(join(parent, `${prefix}${process.pid}-`))
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user also counts as running.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
