import type { Dirent } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { REPLACEMENT } from '../../../src/core/undecodable-name.js'
import { isAside } from '../hooks/moved-aside.js'
import { type FileFacts, fileFacts, isGone } from './file-facts.js'
import { isTemporaryName } from './temporary-names.js'

interface FoundFile {
  /** Within the root, `/` between folders. */
  readonly path: string
  readonly facts: FileFacts
}

/** Why a scan skipped something. After `unreadable` (no permission, a failing share) it proves no file missing. */
export const PASSED_OVER = {
  link: 'links are not followed',
  name: 'its name is not UTF-8, so rename it',
  unreadable: 'it cannot be read',
}
export type PassedOver = keyof typeof PASSED_OVER

interface ScanOptions {
  /** Absolute paths of folders that are never entered: outputs, reports and other watched folders. */
  readonly closed: ReadonlySet<string>
  /** Paths within the root that are examined. */
  readonly takes: (path: string) => boolean
  /** Called for everything that is skipped although a person may expect otherwise. */
  readonly onPassedOver?: (path: string, why: PassedOver) => void
  /** Called for each folder within the root that is entered. */
  readonly onFolder?: (path: string) => void
  /** Called for each folder that a killed process may have left, see `moved-aside.ts`. */
  readonly onAside?: (path: string) => Promise<void>
  readonly signal?: AbortSignal
}

/** Files examined at the same time. A share responds slowly, and to many requests no slower than to one. */
const BATCH_SIZE = 32

/** Folders that servers and systems keep for themselves. */
const SYSTEM_FOLDERS: ReadonlySet<string> = new Set([
  ...['lost+found', '$recycle.bin', 'system volume information', '@eadir', '#recycle', '#snapshot'],
])

/**
 * Every file below a root that the options accept, with its facts. Follows no links, because their targets are found
 * where they lie or are outside the root. Does not enter hidden folders.
 *
 * @throws the file system's error if the root cannot be read; other unreadable folders are skipped
 */
export async function* scanFolder(root: string, options: ScanOptions): AsyncGenerator<FoundFile> {
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    let batch: string[] = []
    for await (const entry of entriesOf(root, folder, options)) {
      options.signal?.throwIfAborted()
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory() && isAside(entry.name)) await options.onAside?.(path)
      if (entry.isDirectory() ? !isOpen(root, path, options) : !options.takes(path)) continue
      const passedOver = whyPassedOver(entry)
      if (passedOver !== null) options.onPassedOver?.(path, passedOver)
      else if (entry.isFile()) batch.push(path)
      else if (entry.isDirectory()) {
        folders.push(path)
        options.onFolder?.(path)
      }
      if (batch.length < BATCH_SIZE) continue
      yield* look(root, batch, options)
      batch = []
    }
    yield* look(root, batch, options)
  }
}

async function* entriesOf(root: string, folder: string, { onPassedOver }: ScanOptions): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(join(root, folder), { bufferSize: 256 })
  } catch (error) {
    // An unreadable folder must not stop the scan of the others.
    if (folder === '') throw error
    if (!isGone(error)) onPassedOver?.(folder, 'unreadable')
  }
}

async function* look(root: string, paths: readonly string[], { onPassedOver }: ScanOptions): AsyncGenerator<FoundFile> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const facts = await fileFacts(join(root, path)).catch(() => onPassedOver?.(path, 'unreadable'))
      return facts && { path, facts }
    }),
  )
  for (const file of found) if (file) yield file
}

function isOpen(root: string, folder: string, { closed }: ScanOptions): boolean {
  const name = basename(folder)
  return !isTemporaryName(name) && !SYSTEM_FOLDERS.has(name.toLowerCase()) && !closed.has(join(root, folder))
}

/** A name that is not UTF-8 was read with replacement characters, so nothing of that name can be opened. */
function whyPassedOver(entry: Dirent): PassedOver | null {
  if (entry.isSymbolicLink()) return 'link'
  return entry.name.includes(REPLACEMENT) ? 'name' : null
}
