import { readlinkSync } from 'node:fs'
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
  // A leftover of others is not worth a job: a folder of temporary files may be closed to readers.
  await processFolders(parent, prefix).catch(() => {})
  return mkdtemp(join(parent, `${prefix}${hostname()}-${process.pid}-${processSpace()}`))
}

/** Paths of the folders that belong to processes, after the removal of those whose process is gone. */
export async function processFolders(parent: string, prefix: string): Promise<readonly string[]> {
  const living: string[] = []
  for (const name of await readdir(parent)) {
    const [, host, pid, space = processSpace()] = name.startsWith(prefix)
      ? (/^(.+)-(\d+)-(\d+\.)?[^-]+$/.exec(name.slice(prefix.length)) ?? [])
      : []
    if (host === undefined) continue
    const path = join(parent, name)
    const isKnown = host === hostname() && space === processSpace()
    const isLeft = isKnown ? !isAlive(Number(pid)) : await isOld(path)
    if (!isLeft) living.push(path)
    // One of another user stays, and so does one that a child of the dead process still fills.
    else await rm(path, { recursive: true, force: true }).catch(() => {})
  }
  return living
}

/** Number of the space in which process numbers are unique, with a dot: containers may share a host's name. */
function processSpace(): string {
  try {
    return `${/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'}.`
  } catch {
    // Only Linux has them.
    return '0.'
  }
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
