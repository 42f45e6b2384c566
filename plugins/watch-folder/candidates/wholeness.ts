import { type FileHandle, open } from 'node:fs/promises'
import { extname } from 'node:path'
import { toVoxmuxError } from '../../../src/core/errors.js'
import { probe } from '../../../src/media/index.js'
import type { FileFacts } from './file-facts.js'
import { hasMarker } from './marker.js'
import { fileKey, type OpenWriter } from './open-writers.js'

/** Bytes read at each place: a page, the smallest unit that a file system fills. */
const PAGE_BYTES = 4096

const TAIL_PAGES = 4

/** Places over the length of a file. There are more in a sparse file, which occupies less than its size. */
const PLACES = 16

const PLACES_IN_SPARSE = 256

/** In these formats, silence is zeros in the middle of a whole file too. */
const PLAIN_SOUND: ReadonlySet<string> = new Set([
  ...['.wav', '.wave', '.bwf', '.rf64', '.w64', '.aif', '.aiff', '.aifc', '.caf'],
])

/** The verdict on a file that did not change for the settle time. */
export type Wholeness =
  | { readonly state: 'whole' }
  /** Not yet: `why` for the log. `open`: a process writes to it. */
  | { readonly state: 'waits'; readonly why: 'marker' | 'open' | 'hollow' | 'unreadable'; readonly writer?: OpenWriter }

interface WholenessQuestion {
  /** Absolute. */
  readonly path: string
  readonly facts: FileFacts
  /** How long it has not changed. */
  readonly unchangedMs: number
  readonly patienceMs: number
  /** Name of the marker that must lie beside it, with `{name}`; null if none is required. */
  readonly marker: string | null
  readonly writerOf: (key: string) => Promise<OpenWriter | undefined>
  readonly signal?: AbortSignal
}

/**
 * Judges whether a file is whole, cheapest check first: marker, open writers, empty pages, and ffprobe to the end of
 * its index. A file with holes or an unreadable one waits for the patience. After that it is taken as it is, and its
 * job reports what is wrong with it.
 *
 * @throws {TransientError} {InterruptedError} if it cannot be judged now
 */
export async function judgeWholeness(question: WholenessQuestion): Promise<Wholeness> {
  const { path, facts, unchangedMs, patienceMs, marker, writerOf } = question
  const isPatienceOver = unchangedMs >= patienceMs
  if (!(await hasMarker(marker, path))) return { state: 'waits', why: 'marker' }
  const writer = await writerOf(fileKey(facts))
  if (writer) return { state: 'waits', why: 'open', writer }
  if (!isPatienceOver && (await looksHollow(path, facts))) return { state: 'waits', why: 'hollow' }
  return (await isReadable(question)) || isPatienceOver ? { state: 'whole' } : { state: 'waits', why: 'unreadable' }
}

/** False if the file ends too early, as a growing file does. Its job reports any other verdict. */
async function isReadable({ path, signal }: WholenessQuestion): Promise<boolean> {
  try {
    await probe(path, { signal })
    return true
  } catch (thrown) {
    const error = toVoxmuxError(thrown, path)
    // A fault of the moment or an interruption proves nothing about the file.
    if (error.exitCode === 4 || error.exitCode === 130) throw error
    return error.exitCode === 5 && error.code !== 'ERR_UNREADABLE'
  }
}

/**
 * True if pages that should have content hold only zeros: Samba and fallocate reserve the size of a file before it is
 * written. Silence and padding look the same, so this is a reason to wait longer, never to refuse.
 */
export async function looksHollow(path: string, { sizeBytes, allocatedBytes }: FileFacts): Promise<boolean> {
  if (sizeBytes < PAGE_BYTES) return false
  await using file = await open(path, 'r')
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
}

async function isZero(file: FileHandle, position: number, length: number): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position)
  return bytesRead > 0 && buffer.subarray(0, bytesRead).every((byte) => byte === 0)
}
