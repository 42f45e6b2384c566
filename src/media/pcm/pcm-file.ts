import { type FileHandle, open } from 'node:fs/promises'
import { throwIfAborted } from '../../core/abort.js'
import { fillFrom } from '../../core/read-at.js'
import { frameBytes, type PcmFormat, type PcmStream, type SampleType, sampleBytes } from './pcm.js'
import { readSamples, writeSamples } from './pcm-samples.js'

/** A file that holds raw PCM and nothing else. */
export interface PcmFile {
  readonly path: string
  readonly format: PcmFormat
  readonly sampleCount: number
}

interface ReadPcmFileOptions {
  /** The file's own type by default. */
  readonly sample?: SampleType | undefined
  readonly signal?: AbortSignal | undefined
}

/** Bytes of one read: few calls, and no more than a processor's cache holds. */
const READ_BYTES = 1 << 18

/** The samples of a file. Each reading opens it again, and all of its buffers share their memory. */
export function readPcmFile(file: PcmFile, { sample, signal }: ReadPcmFileOptions = {}): PcmStream {
  const own = file.format.sample
  const wanted = sample ?? own
  return {
    format: { ...file.format, sample: wanted },
    sampleCount: file.sampleCount,
    async *buffers() {
      const buffers = buffersOf(file, signal)
      yield* wanted === own ? buffers : converted(buffers, own, wanted)
    },
  }
}

async function* buffersOf({ path, format, sampleCount }: PcmFile, signal: AbortSignal | undefined) {
  const frame = frameBytes(format)
  const end = sampleCount * frame
  const room = Buffer.allocUnsafeSlow(Math.min(Math.floor(READ_BYTES / frame) * frame, end))
  await using file = await open(path, 'r')
  for (let at = 0; at < end; at += room.length) {
    throwIfAborted(signal)
    yield await readFully(file, room.subarray(0, end - at), at)
  }
}

async function* converted(buffers: AsyncIterable<Buffer>, own: SampleType, wanted: SampleType) {
  let values: Float64Array = new Float64Array(0)
  let bytes = Buffer.alloc(0)
  for await (const buffer of buffers) {
    const read = readSamples(buffer, own, values)
    const length = read.length * sampleBytes(wanted)
    if (bytes.length < length) [values, bytes] = [read, Buffer.allocUnsafeSlow(length)]
    yield writeSamples(read, wanted, bytes.subarray(0, length))
  }
}

/** Writes buffers into a new file that only this user can read, each before the next one is requested. */
export async function writeBuffers(
  buffers: AsyncIterable<Buffer>,
  path: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  for await (const buffer of buffers) {
    throwIfAborted(signal)
    await file.appendFile(buffer)
  }
}

/**
 * Reads parts of a file, each of exactly its range's length, with silence before the file's start and after its end.
 * All parts share one buffer: each is valid until the next one is requested.
 */
export async function* readPcmParts(
  { path, format, sampleCount }: PcmFile,
  ranges: readonly { readonly startSample: number; readonly endSample: number }[],
): AsyncGenerator<Buffer> {
  const frame = frameBytes(format)
  const room = Buffer.alloc(Math.max(0, ...ranges.map(({ startSample, endSample }) => endSample - startSample)) * frame)
  await using file = await open(path, 'r')
  for (const { startSample, endSample } of ranges) {
    const part = room.subarray(0, (endSample - startSample) * frame).fill(0)
    const from = Math.min(Math.max(startSample, 0), sampleCount)
    const to = Math.min(Math.max(endSample, from), sampleCount)
    await readFully(file, part.subarray((from - startSample) * frame, (to - startSample) * frame), from * frame)
    yield part
  }
}

/** Fills the bytes from a position on. @throws Error if the file ends before they are full */
async function readFully(file: FileHandle, bytes: Buffer, position: number): Promise<Buffer> {
  const filled = await fillFrom(file, position, bytes)
  if (filled < bytes.length) throw new Error('a file of raw PCM ends before its last sample')
  return bytes
}
