import { randomUUID } from 'node:crypto'
import { link, rename, rm } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { makeDurableFolder } from '../../../src/core/make-folder.js'
import { syncFolder } from '../../../src/core/sync-folder.js'
import { type FileFacts, fileFacts } from '../candidates/file-facts.js'
import { isStill, type ReadFile } from '../intake/taken-file.js'
import { requireInside } from '../places/require-inside.js'

/** Names to try, because a file of the same name may be there from before. */
const MOST_NAMES = 1000

/** Errors of file systems without hard links. */
const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/**
 * Moves a published source into a folder, under its own path there, and never over another file. It is linked first,
 * and its old name goes when the new one is on the disk. So it is never gone, even after a power cut.
 *
 * @param path within the root
 * @returns its path now; its old path if it is not the file that was read any more
 * @throws the file system's error, for example EXDEV if the folder is on another disk; {UsageError} `ERR_WATCH_FOLDER`
 * if a link below the folder leads out of it
 */
export async function moveSource(root: string, path: string, done: string, read: ReadFile): Promise<string> {
  const source = join(root, path)
  const facts = await fileFacts(source)
  if (!facts) {
    const moved = await fileFacts(join(done, path))
    return moved && isStill(read, moved) ? join(done, path) : source
  }
  if (!isStill(read, facts)) return source
  const folder = dirname(join(done, path))
  await requireInside(done, folder)
  await makeDurableFolder(folder)
  for (let count = 1; count <= MOST_NAMES; count++) {
    const target = join(done, numbered(path, count))
    const there = await fileFacts(target)
    // It was linked before a crash, and its old name is still there.
    const isSame = there?.ino === facts.ino && there.dev === facts.dev
    if (there && !isSame) continue
    if (!isSame && !(await isLinked(source, target))) {
      await rename(source, target)
      return target
    }
    await syncFolder(folder)
    if (await dropName(source, facts)) return target
    await rm(target)
    return source
  }
  throw new Error(`${done} holds ${MOST_NAMES} files of the name ${path} already.`)
}

/**
 * Removes the old name of a file that has another one. A version that took the name meanwhile keeps it: a program may
 * export over it while the disk writes, and that version was not processed.
 *
 * @returns false if there is such a version
 */
async function dropName(source: string, before: FileFacts): Promise<boolean> {
  const isBefore = ({ ino, dev, ...now }: FileFacts) => ino === before.ino && dev === before.dev && isStill(before, now)
  const found = await fileFacts(source)
  // A person removed or renamed it.
  if (!found) return true
  if (!isBefore(found)) return false
  // Another program can take the name until the next call, which therefore removes nothing yet.
  const aside = join(dirname(source), `.voxmux-${randomUUID()}.moved`)
  await rename(source, aside)
  const facts = await fileFacts(aside)
  const isOld = facts === undefined || isBefore(facts)
  if (!isOld) {
    await link(aside, source).catch((error: NodeJS.ErrnoException) => {
      // A still newer version, which replaced this one.
      if (error.code !== 'EEXIST') throw error
    })
  }
  await rm(aside, { force: true })
  return isOld
}

/** False on a file system without hard links, which needs a rename. */
async function isLinked(source: string, target: string): Promise<boolean> {
  try {
    await link(source, target)
    return true
  } catch (error) {
    if (NO_LINKS.has(String((error as NodeJS.ErrnoException).code))) return false
    throw error
  }
}

function numbered(path: string, count: number): string {
  if (count === 1) return path
  const ext = extname(path)
  return `${path.slice(0, path.length - ext.length)}~${count}${ext}`
}
