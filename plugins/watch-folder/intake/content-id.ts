import { createHash } from 'node:crypto'
import { open, stat } from 'node:fs/promises'
import { fileSha256 } from '../../../src/core/file-identity.js'

/** Files up to this size are read whole, which takes a moment. */
const WHOLE_BYTES = 16 * 1024 ** 2
/** Bytes read at each end of a larger file, and the number of places in between. */
const END_BYTES = 2 * 1024 ** 2
const PLACES = 62
const PLACE_BYTES = 128 * 1024

/**
 * Identifies a file's content: its SHA-256, or for a large file its size and the SHA-256 of its head, its tail and
 * samples in between. Only a change of a few samples in a large file of the same size goes unnoticed: see {@link
 * isSampled}.
 */
export async function contentId(path: string, signal?: AbortSignal): Promise<string> {
  const { size } = await stat(path)
  if (!isSampled(size)) return fileSha256(path, signal)
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(END_BYTES)
  await using file = await open(path, 'r')
  for (const [start, length] of samples(size)) {
    signal?.throwIfAborted()
    const { bytesRead } = await file.read(buffer, 0, length, start)
    hash.update(buffer.subarray(0, bytesRead))
  }
  return `sampled-${size}-${hash.digest('hex')}`
}

/** True for a size of which only samples are read. */
export function isSampled(sizeBytes: number): boolean {
  return sizeBytes > WHOLE_BYTES
}

function* samples(sizeBytes: number): Generator<readonly [startByte: number, bytes: number]> {
  yield [0, END_BYTES]
  const between = sizeBytes - 2 * END_BYTES
  for (let place = 1; place <= PLACES; place++) {
    yield [END_BYTES + Math.floor((between * place) / (PLACES + 1)), PLACE_BYTES]
  }
  yield [sizeBytes - END_BYTES, END_BYTES]
}
