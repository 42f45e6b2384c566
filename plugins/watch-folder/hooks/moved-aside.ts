import { randomUUID } from 'node:crypto'
import { link, mkdir, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Hidden folders that hold one file each while it is decided whether its name may go. */
const ASIDE = /^\.voxmux-[0-9a-f-]{36}\.moved$/

/** True for the name of a folder of {@link setAside}. */
export function isAside(name: string): boolean {
  return ASIDE.test(name)
}

/** Moves a file into a hidden folder beside it, which keeps its name for `restoreAside`. @returns its path there */
export async function setAside(source: string): Promise<string> {
  const folder = join(dirname(source), `.voxmux-${randomUUID()}.moved`)
  await mkdir(folder)
  const aside = join(folder, basename(source))
  try {
    await rename(source, aside)
  } catch (error) {
    await rmdir(folder)
    throw error
  }
  return aside
}

/** Gives a file its name back, or another one, unless a file has that meanwhile. @returns false in that case */
export async function giveBack(aside: string, name = basename(aside)): Promise<boolean> {
  try {
    await link(aside, join(dirname(dirname(aside)), name))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

/** Removes a file that was set aside, with its folder. */
export async function dropAside(aside: string): Promise<void> {
  await rm(aside, { force: true })
  // NFS keeps a file that a program still reads, under a name of its own. `restoreAside` removes the folder later.
  await rmdir(dirname(aside)).catch(() => {})
}
