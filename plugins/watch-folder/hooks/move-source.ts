import { rm } from 'node:fs/promises'
import { dirname, extname, join, relative } from 'node:path'
import { makeDurableFolder } from '../../../src/core/make-folder.js'
import { syncFolder } from '../../../src/core/sync-folder.js'
import { giveName } from '../../../src/pipeline/output/publish.js'
import { type FileFacts, fileFacts } from '../candidates/file-facts.js'
import { markerPath } from '../candidates/marker.js'
import { requireInside } from '../folders/require-inside.js'
import { isStill, type ReadFile } from '../intake/taken-file.js'
import { dropAside, giveBack, setAside } from './moved-aside.js'

/** Names to try, because a file of the same name may be there from before. */
const MOST_NAMES = 1000

/**
 * Moves a published source into a folder, under its own path there, and never over another file. It is linked first,
 * and its old name goes when the new one is on the disk. So it is never gone, even after a power cut. A newer version
 * that takes the old name meanwhile stays.
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
    const isSame = there !== undefined && isSameInode(facts, there)
    if (there && !isSame) continue
    const gift = isSame ? 'link' : await given(source, target)
    if (gift === null) continue
    if (gift === 'gone') return source
    if (gift === 'rename') return target
    await syncFolder(folder)
    const linked = await fileFacts(target)
    // Otherwise a newer version had the name already when it was linked.
    const isOld = linked !== undefined && isSameInode(facts, linked) && isStill(facts, linked)
    if (isOld && (await dropName(source, facts))) return target
    await rm(target)
    return source
  }
  throw new Error(`${done} holds ${MOST_NAMES} files of the name ${path} already.`)
}

/**
 * Moves the marker of a source that was moved. Otherwise the next file of its name would be taken before it is whole.
 *
 * @param template such as `{name}.done`; null without markers
 * @throws as {@link moveSource}
 */
export async function moveMarker(root: string, path: string, done: string, template: string | null): Promise<void> {
  if (template === null) return
  const marker = relative(root, markerPath(template, join(root, path)))
  const facts = await fileFacts(join(root, marker))
  if (facts) await moveSource(root, marker, done, facts)
}

/** True if a file has a name in the folder of moved sources. @param path its own path within its root */
export async function isMovedTo(done: string, path: string, facts: FileFacts): Promise<boolean> {
  for (let count = 1; count <= MOST_NAMES; count++) {
    const there = await fileFacts(join(done, numbered(path, count)))
    if (there === undefined || isSameInode(facts, there)) return there !== undefined
  }
  return false
}

/**
 * Removes the old name of a file that has another one. Another file that took the name meanwhile keeps it: a program may
 * export over it while the disk writes, and that version was not processed.
 *
 * @returns false if the file itself was written to meanwhile
 */
async function dropName(source: string, before: FileFacts): Promise<boolean> {
  const found = await fileFacts(source)
  if (!found || !isSameInode(before, found)) return true
  if (!isStill(before, found)) return false
  // Another program can take the name until the next call, which therefore removes nothing yet.
  const aside = await setAside(source)
  const facts = await fileFacts(aside)
  const isOld = facts === undefined || (isSameInode(before, facts) && isStill(before, facts))
  // If a still newer version has the name, it replaced this one.
  if (!isOld) await giveBack(aside)
  await dropAside(aside)
  return isOld || !isSameInode(before, facts)
}

/**
 * Gives a file another name. Null if another file has it, perhaps since a moment ago. Linux also takes a file for gone if a
 * newer version gets its name in the same moment.
 */
function given(source: string, target: string): Promise<'link' | 'rename' | 'gone' | null> {
  return giveName(source, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return null
    if (error.code === 'ENOENT') return 'gone'
    throw error
  })
}

function isSameInode(a: FileFacts, b: FileFacts): boolean {
  return a.ino === b.ino && a.dev === b.dev
}

/** The path with a number before its extension, from the second on. */
export function numbered(path: string, count: number): string {
  if (count === 1) return path
  const ext = extname(path)
  return `${path.slice(0, path.length - ext.length)}~${count}${ext}`
}
