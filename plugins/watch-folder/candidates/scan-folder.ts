import type { Dirent } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { type FileFacts, fileFacts, isGone } from './file-facts.js'
import { isTemporaryName } from './temporary-names.js'

/** A file that a scan found. */
export interface FoundFile {
  /** Within the root, `/` between folders. */
  readonly path: string
  readonly facts: FileFacts
}

/**
 * Why something was passed over: a link, a name that is no UTF-8, or what cannot be looked at (a file or folder without
 * permission, a share that stumbles): the scan is not complete then, and says nothing of what is missing.
 */
export type PassedOver = 'link' | 'name' | 'unreadable'

export interface ScanOptions {
  /** Absolute paths of folders that are never entered: those of outputs, reports and other watched folders. */
  readonly closed: ReadonlySet<string>
  /** Which paths within the root are looked at. */
  readonly takes: (path: string) => boolean
  /** Told of what is passed over although a person may expect otherwise. */
  readonly onPassedOver?: (path: string, why: PassedOver) => void
  /** Told of each folder within the root that is entered. */
  readonly onFolder?: (path: string) => void
  readonly signal?: AbortSignal
}

/** Files looked at together: a share answers slowly, and many questions at once no slower than one. */
const BATCH_SIZE = 32

/** Folders that servers and systems keep for themselves. */
const SYSTEM_FOLDERS: ReadonlySet<string> = new Set([
  ...['lost+found', '$recycle.bin', 'system volume information', '@eadir', '#recycle', '#snapshot'],
])

/**
 * Every file below a root that the options take, each with its facts. No link is followed, neither to a file nor to a
 * folder: what lies in the root is found where it lies, and what lies outside is not the root's. Hidden folders are
 * not entered.
 *
 * @throws what the file system says where the root itself cannot be read; folders below it that cannot are passed over
 */
export async function* scanFolder(root: string, options: ScanOptions): AsyncGenerator<FoundFile> {
  const folders = ['']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    let batch: string[] = []
    for await (const entry of entriesOf(root, folder, options)) {
      options.signal?.throwIfAborted()
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        if (!isOpen(entry.name) || options.closed.has(join(root, path))) continue
        if (isBroken(entry.name)) options.onPassedOver?.(path, 'name')
        else {
          folders.push(path)
          options.onFolder?.(path)
        }
      } else if (options.takes(path)) {
        if (entry.isSymbolicLink()) options.onPassedOver?.(path, 'link')
        else if (isBroken(entry.name)) options.onPassedOver?.(path, 'name')
        else if (entry.isFile()) batch.push(path)
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
    // One folder that is closed to us is not the others' fault; one that is gone by now is nobody's.
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

function isOpen(name: string): boolean {
  return !isTemporaryName(name) && !SYSTEM_FOLDERS.has(name.toLowerCase())
}

/** A name that is no UTF-8 was read with replacement characters, and cannot be asked for again. */
function isBroken(name: string): boolean {
  return name.includes('\uFFFD')
}
