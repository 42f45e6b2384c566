import { type FileHandle, open } from 'node:fs/promises'
import { extname } from 'node:path'
import type { FileFacts } from './file-facts.js'

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
