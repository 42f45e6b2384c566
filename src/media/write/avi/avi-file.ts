import { type FileHandle, open } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { MalformedFile } from '../../probe/malformed-file.js'
import { FileWindow } from '../file-window.js'
import { type HeaderPart, parseHeaders, partsOf } from '../structure/avi-headers.js'
import { type Chunk, chunkFile, chunksOfRiff } from '../structure/chunks.js'
import { type MovieData, readMovieData } from './movie-data.js'
import { type OpenDmlIndex, parseOpenDmlIndex } from './open-dml-index.js'
import { type AviStream, readStreams } from './stream-header.js'

/** A RIFF of an AVI. An AVI has one below a gigabyte; OpenDML continues in others (`AVIX`). */
export interface AviPart {
  readonly name: 'RIFF/AVI' | 'RIFF/AVIX'
  readonly start: number
  /** First byte of the next part, or behind the chunks of the last one. */
  readonly end: number
  /** Size that the part states for itself. */
  readonly statedBytes: number
  /** Chunks outside the size that the part states follow those inside. */
  readonly chunks: readonly Chunk[]
  readonly movi: Chunk
  /** `idx1` with its entries; null for a part without it. */
  readonly index: { readonly chunk: Chunk; readonly entries: Buffer } | null
}

/** A parsed AVI. */
export interface AviFile {
  readonly sizeBytes: number
  readonly parts: readonly AviPart[]
  /** `hdrl`. */
  readonly headers: HeaderPart
  readonly streams: readonly AviStream[]
  readonly data: MovieData
  /** Indices of OpenDML, in file order: those of the headers, then those of the media. */
  readonly indices: readonly OpenDmlIndex[]
}

/** Bytes before the first chunk of a part. */
export const PART_HEAD_BYTES = 12
/** Headers hold no media; an index of 16 bytes a packet covers days of film. */
const MOST_BYTES = 256 * 1024 ** 2

/** Reads the structure of an AVI. @throws MalformedFile if voxmux could not write its form */
export async function readAvi(path: string, sizeBytes: number): Promise<AviFile> {
  await using handle = await open(path, 'r')
  const reader = new ChunkReader(handle)
  const parts = await readParts(handle, sizeBytes, reader)
  const hdrl = onlyList(parts[0]?.chunks ?? [], 'hdrl')
  const headers = parseHeaders(await reader.bytesOf(hdrl), hdrl.start)
  const streams = readStreams(headers)
  const numbers = streams.flatMap(({ kind }, number) => (kind === 'auds' ? [number] : []))
  const lists = parts.map(({ movi }) => movi)
  const data = await readMovieData(new FileWindow(handle, sizeBytes), lists, numbers)
  const indices = partsOf(headers, 'strl').flatMap((list) => {
    const own = partsOf(list, 'indx')
    if (own.length > 1) throw new MalformedFile('a stream has several indices')
    return own.map(({ start, body }) => parseOpenDmlIndex(start, body))
  })
  for (const chunk of data.indices) indices.push(parseOpenDmlIndex(chunk.start, await reader.bodyOf(chunk)))
  return { sizeBytes, parts, headers, streams, data, indices }
}

async function readParts(handle: FileHandle, sizeBytes: number, reader: ChunkReader): Promise<readonly AviPart[]> {
  const file = await chunkFile(handle, sizeBytes)
  if (file?.name !== 'RIFF/AVI') throw new MalformedFile('its chunks do not follow each other')
  const rest = await readAt(handle, file.end, 4)
  if (rest.toString('latin1') === 'RIFF') throw new MalformedFile(`its part at byte ${file.end} is not whole`)
  const heads = file.chunks.filter(({ id }) => id === 'RIFF')
  const starts = [0, ...heads.map(({ start }) => start), file.end]
  const parts: AviPart[] = []
  for (const [place, start] of starts.slice(0, -1).entries()) {
    const end = starts[place + 1] as number
    const head = place === 0 ? null : (heads[place - 1] as Chunk)
    const outside = file.chunks.filter((chunk) => chunk !== head && chunk.start >= start && chunk.start < end)
    const inside = head ? await chunksOfRiff(handle, head, 'AVIX') : []
    if (!inside) throw new MalformedFile(`it goes on at byte ${start} in another way than OpenDML`)
    parts.push(await readPart(head ? 'RIFF/AVIX' : 'RIFF/AVI', { start, end }, [...inside, ...outside], reader))
  }
  return parts
}

async function readPart(
  name: AviPart['name'],
  { start, end }: { readonly start: number; readonly end: number },
  chunks: readonly Chunk[],
  reader: ChunkReader,
): Promise<AviPart> {
  const indices = chunks.filter(({ id }) => id === 'idx1')
  if (indices.length > 1) throw new MalformedFile(`it has ${indices.length} indices`)
  if (chunks.some(({ id }) => /^(ix\d\d|indx)$/.test(id))) throw new MalformedFile('an index lies outside its media')
  const [chunk] = indices
  const index = chunk ? { chunk, entries: await reader.bodyOf(chunk) } : null
  const movi = onlyList(chunks, 'movi')
  // Its headers state no lengths either, so ffmpeg guesses one from the bytes.
  if ((await reader.sizeAt(movi.start)) !== movi.bodyLength) throw new MalformedFile('its media state no size')
  return { name, start, end, statedBytes: await reader.sizeAt(start), chunks, movi, index }
}

function onlyList(chunks: readonly Chunk[], type: string): Chunk {
  const found = chunks.filter(({ list }) => list === type)
  if (found.length !== 1) throw new MalformedFile(`it has ${found.length} lists ${type}`)
  return found[0] as Chunk
}

/** Reads headers and indices, which together have to fit into the memory. */
class ChunkReader {
  readonly #handle: FileHandle
  #left = MOST_BYTES

  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  /** @throws MalformedFile if the chunks have too many bytes */
  async bytesOf({ start, end }: Pick<Chunk, 'start' | 'end'>): Promise<Buffer> {
    this.#left -= end - start
    if (this.#left < 0) throw new MalformedFile(`its headers and indices have more than ${MOST_BYTES} bytes`)
    return readAt(this.#handle, start, end - start)
  }

  async bodyOf({ bodyStart, bodyLength }: Pick<Chunk, 'bodyStart' | 'bodyLength'>): Promise<Buffer> {
    return this.bytesOf({ start: bodyStart, end: bodyStart + bodyLength })
  }

  async sizeAt(start: number): Promise<number> {
    return (await readAt(this.#handle, start + 4, 4)).readUInt32LE(0)
  }
}
