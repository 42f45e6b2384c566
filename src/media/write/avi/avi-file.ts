import { open } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { MalformedFile } from '../../probe/malformed-file.js'
import { FileWindow } from '../file-window.js'
import { type HeaderPart, parseHeaders } from '../structure/avi-headers.js'
import { type Chunk, type ChunkFile, chunkFile } from '../structure/chunks.js'
import { type MovieData, readMovieData } from './movie-data.js'
import { type AviStream, readStreams } from './stream-header.js'

/** A parsed AVI of one RIFF, which is every AVI below a gigabyte. */
export interface AviFile {
  readonly file: ChunkFile
  /** Size that the file states for itself. */
  readonly statedBytes: number
  /** `hdrl`. */
  readonly headers: HeaderPart
  readonly streams: readonly AviStream[]
  readonly movi: Chunk
  readonly data: MovieData
  /** `idx1` with its entries; null for a file without an index. */
  readonly index: { readonly chunk: Chunk; readonly entries: Buffer } | null
}

/** Headers hold no media; an index of 16 bytes a packet covers days of film. */
const MOST_BYTES = 256 * 1024 ** 2

/** Reads the structure of an AVI. @throws MalformedFile if voxmux could not write its form */
export async function readAvi(path: string, sizeBytes: number): Promise<AviFile> {
  await using handle = await open(path, 'r')
  const file = await chunkFile(handle, sizeBytes)
  if (file?.name !== 'RIFF/AVI') throw new MalformedFile('its chunks do not follow each other')
  if (file.chunks.some(({ id }) => id === 'RIFF')) throw new MalformedFile('it goes on in further parts (OpenDML)')
  const listOf = (type: string) => {
    const found = file.chunks.filter(({ list }) => list === type)
    if (found.length !== 1) throw new MalformedFile(`it has ${found.length} lists ${type}`)
    return found[0] as Chunk
  }
  const bytesOf = async ({ id, start, end }: Chunk) => {
    if (end - start > MOST_BYTES) throw new MalformedFile(`its chunk ${id} has ${end - start} bytes`)
    return readAt(handle, start, end - start)
  }
  const [hdrl, movi] = [listOf('hdrl'), listOf('movi')]
  const headers = parseHeaders(await bytesOf(hdrl), hdrl.start)
  const streams = readStreams(headers)
  const numbers = streams.flatMap(({ kind }, number) => (kind === 'auds' ? [number] : []))
  const indices = file.chunks.filter(({ id }) => id === 'idx1')
  if (indices.length > 1) throw new MalformedFile(`it has ${indices.length} indices`)
  const [chunk] = indices
  const index = chunk ? { chunk, entries: (await bytesOf(chunk)).subarray(8, 8 + chunk.bodyLength) } : null
  const data = await readMovieData(new FileWindow(handle, sizeBytes), movi, numbers)
  const statedBytes = (await readAt(handle, 4, 4)).readUInt32LE(0)
  return { file, statedBytes, headers, streams, movi, data, index }
}
