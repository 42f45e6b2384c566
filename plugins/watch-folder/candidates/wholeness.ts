import { access, type FileHandle, open } from 'node:fs/promises'
import { extname } from 'node:path'
import { toVoxmuxError } from '../../../src/core/errors.js'
import { probe } from '../../../src/media/index.js'
import type { FileFacts } from './file-facts.js'
import { fileKey, type OpenWriter } from './open-writers.js'

/** What is read at each place: a page, the least that a file system fills. */
const PAGE_BYTES = 4096

const TAIL_PAGES = 4

/** Places over the length of a file; more where the file occupies less than its size, and so has holes. */
const PLACES = 16

const PLACES_IN_SPARSE = 256

/** Silence is zeros in these, in the middle of a whole file too. */
const PLAIN_SOUND: ReadonlySet<string> = new Set([
  ...['.wav', '.wave', '.bwf', '.rf64', '.w64', '.aif', '.aiff', '.aifc', '.caf'],
])

/** What a file that did not change for the settle time is found to be. */
export type Wholeness =
  /** It may be taken; `readable` is false for one that stayed unreadable past the patience. */
  | { readonly state: 'whole'; readonly readable: boolean }
  /** Not yet: `why` for the log. `open`: a process writes to it. */
  | { readonly state: 'waits'; readonly why: 'marker' | 'open' | 'hollow' | 'unreadable'; readonly writer?: OpenWriter }

export interface WholenessQuestion {
  /** Absolute. */
  readonly path: string
  readonly facts: FileFacts
  /** How long it has not changed. */
  readonly unchangedMs: number
  readonly patienceMs: number
  /** Absolute path of the file that must lie beside it; null: none. */
  readonly marker: string | null
  readonly writerOf: (key: string) => Promise<OpenWriter | undefined>
  readonly signal?: AbortSignal
}

/**
 * Judges whether a file is whole, cheapest question first: its marker is there, nobody writes to it, its pages are
 * filled, and ffprobe reads it to the end of its index. One that has holes or cannot be read is given the patience;
 * then it is taken as it is, and its job says what is wrong with it.
 *
 * @throws TransientError, InterruptedError where it cannot be judged now: ask again
 */
export async function judgeWholeness(question: WholenessQuestion): Promise<Wholeness> {
  const { path, facts, unchangedMs, patienceMs, marker, writerOf } = question
  const isPatienceOver = unchangedMs >= patienceMs
  if (marker !== null && !(await exists(marker))) return { state: 'waits', why: 'marker' }
  const writer = await writerOf(fileKey(facts))
  if (writer) return { state: 'waits', why: 'open', writer }
  if (!isPatienceOver && (await looksHollow(path, facts))) return { state: 'waits', why: 'hollow' }
  const readable = await isReadable(question)
  return readable || isPatienceOver ? { state: 'whole', readable } : { state: 'waits', why: 'unreadable' }
}

/** False for what a growing file answers: that it breaks off. Any other verdict is its job's to report. */
async function isReadable({ path, signal }: WholenessQuestion): Promise<boolean> {
  try {
    await probe(path, { signal })
    return true
  } catch (thrown) {
    const error = toVoxmuxError(thrown, path)
    // Of the moment, or of our own end: nothing is known of the file.
    if (error.exitCode === 4 || error.exitCode === 130) throw error
    return error.exitCode === 5 && error.code !== 'ERR_UNREADABLE'
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/**
 * True for a file that holds pages of nothing but zeros where content should be: its size was reserved, as Samba and
 * fallocate do, and part of it is not written yet. Silence and padding can look the same, so that this is a reason to
 * wait longer and never one to refuse.
 */
export async function looksHollow(path: string, { sizeBytes, allocatedBytes }: FileFacts): Promise<boolean> {
  if (sizeBytes < PAGE_BYTES) return false
  const file = await open(path, 'r')
  try {
    const tailAt = Math.max(0, sizeBytes - TAIL_PAGES * PAGE_BYTES)
    if (await isZero(file, tailAt, sizeBytes - tailAt)) return true
    const isSparse = allocatedBytes > 0 && allocatedBytes < sizeBytes
    if (!isSparse && PLAIN_SOUND.has(extname(path).toLowerCase())) return false
    const places = isSparse ? PLACES_IN_SPARSE : PLACES
    for (let place = 1; place < places; place++) {
      const at = Math.floor((sizeBytes * place) / places / PAGE_BYTES) * PAGE_BYTES
      if (at + PAGE_BYTES <= tailAt && (await isZero(file, at, PAGE_BYTES))) return true
    }
    return false
  } finally {
    await file.close()
  }
}

async function isZero(file: FileHandle, position: number, length: number): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position)
  return bytesRead > 0 && buffer.subarray(0, bytesRead).every((byte) => byte === 0)
}
