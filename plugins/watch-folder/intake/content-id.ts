import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'

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
  await using file = await open(path, 'r')
  const { size } = await file.stat()
  if (!isSampled(size)) return await hashOf(file, whole(size), signal)
  return `sampled-${size}-${await hashOf(file, samples(size), signal)}`
}

/** SHA-256 of all bytes of a file, in hex. */
export async function wholeSha256(path: string, signal?: AbortSignal): Promise<string> {
  await using file = await open(path, 'r')
  return await hashOf(file, whole((await file.stat()).size), signal)
}

/** True for a size of which only samples are read. */
export function isSampled(sizeBytes: number): boolean {
  return sizeBytes > WHOLE_BYTES
}

type Range = readonly [startByte: number, bytes: number]

function* whole(sizeBytes: number): Generator<Range> {
  for (let at = 0; at < sizeBytes; at += END_BYTES) yield [at, Math.min(END_BYTES, sizeBytes - at)]
}

function* samples(sizeBytes: number): Generator<Range> {
  yield [0, END_BYTES]
  const between = sizeBytes - 2 * END_BYTES
  for (let place = 1; place <= PLACES; place++) {
    yield [END_BYTES + Math.floor((between * place) / (PLACES + 1)), PLACE_BYTES]
  }
  yield [sizeBytes - END_BYTES, END_BYTES]
}

async function hashOf(file: FileHandle, ranges: Iterable<Range>, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(END_BYTES)
  for (const [start, length] of ranges) {
    signal?.throwIfAborted()
    hash.update(await read(file, buffer, start, length))
  }
  return hash.digest('hex')
}

async function read(file: FileHandle, buffer: Buffer, position: number, length: number): Promise<Buffer> {
  const { bytesRead } = await file.read(buffer, 0, length, position)
  return buffer.subarray(0, bytesRead)
}
