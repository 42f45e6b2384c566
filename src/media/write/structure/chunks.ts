import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { nearReader } from '../../probe/near-reader.js'
import { isStreamedSize, lengthOfSamples } from '../../probe/streamed-size.js'
import { MAX_STRUCTURES, type Structure } from './structure.js'

/** The families of chunk files, by how a chunk's head is written. */
export type ChunkForm = 'riff' | 'rf64' | 'w64' | 'aiff' | 'caf'

/** A chunk at the top level of a file. Offsets in bytes. */
export interface Chunk {
  readonly id: string
  /** Type of a list: `hdrl`, `movi`; null for any other chunk. */
  readonly list: string | null
  /** First byte of its head. */
  readonly start: number
  readonly bodyStart: number
  readonly bodyLength: number
  /** First byte after it, padding included. */
  readonly end: number
}

/** A file of chunks: RIFF/WAVE, RIFX/WAVE, RIFF/AVI, RF64, BW64, W64, AIFF, AIFF-C or CAF. */
export interface ChunkFile {
  readonly form: ChunkForm
  /** True for a RIFX: a RIFF that writes the high byte of a number first. */
  readonly isRifx: boolean
  /** `RIFF/WAVE`, `FORM/AIFC` …: the name of the outermost structure. */
  readonly name: string
  /** Bytes before the first chunk. */
  readonly headLength: number
  readonly chunks: readonly Chunk[]
  /** End of the chunks by the size that the file states; later bytes are not part of the form. */
  readonly end: number
  readonly sizeBytes: number
}

const RIFX = 'RIFX'
const RIFF_GUID = '726966662e91cf11a5d628db04c10000'
interface ChunkLayout {
  /** Bytes before the first chunk, and of a chunk's head. */
  readonly file: number
  readonly chunk: number
  /** Chunks begin at multiples of it. */
  readonly align: number
  /** The length of a chunk's body by its head. */
  readonly stated: (head: Buffer) => number
}

const LAYOUT: Readonly<Record<ChunkForm, ChunkLayout>> = {
  riff: { file: 12, chunk: 8, align: 2, stated: (head) => head.readUInt32LE(4) },
  rf64: { file: 12, chunk: 8, align: 2, stated: (head) => head.readUInt32LE(4) },
  w64: { file: 40, chunk: 24, align: 8, stated: (head) => Number(head.readBigUInt64LE(16)) - 24 },
  aiff: { file: 12, chunk: 8, align: 2, stated: (head) => head.readUInt32BE(4) },
  caf: { file: 8, chunk: 12, align: 1, stated: (head) => Number(head.readBigInt64BE(4)) },
}
/** Headers, pictures with their sound, and tags. Others are named: cameras keep their notes in `ncdt` or `exif`. */
const USUAL_LISTS: ReadonlySet<string> = new Set(['hdrl', 'movi', 'INFO'])
/** "To the end": written to a pipe, or (RF64) stated in `ds64`. */
const UNKNOWN = 0xffff_ffff

/** Lists the chunks of a file; undefined if it is another kind of file or its chunks exceed it. */
export async function chunkFile(file: FileHandle, sizeBytes: number): Promise<ChunkFile | undefined> {
  const head = await readAt(file, 0, 40)
  const form = formOf(head)
  if (!form) return undefined
  const isRifx = head.toString('latin1', 0, 4) === RIFX
  const headLength = LAYOUT[form].file
  const chunks: Chunk[] = []
  let longData: number | undefined
  const end = Math.min(endOf(head, form, sizeBytes, isRifx), sizeBytes)
  let at = headLength
  // ffmpeg plays samples behind the end that a RIFF states.
  let hasSound = false
  const read = nearReader(file)
  while (at + LAYOUT[form].chunk <= sizeBytes && (at < end || !hasSound)) {
    const bytes = await read(at, 24)
    const chunk = chunkAt(bytes, at, form, { sizeBytes, longData, isRifx })
    if (chunks.length > MAX_STRUCTURES) return undefined
    // After the media, other bytes are trailing bytes. Before them, the file cannot be parsed.
    if (!chunk && hasSound) break
    if (!chunk) return undefined
    if (chunk.id === 'ds64' && bytes.length >= 24) longData = Number(bytes.readBigUInt64LE(16))
    chunks.push(chunk)
    hasSound ||= holdsSamples(chunk.id) || chunk.list === 'movi'
    at = chunk.end
  }
  return { form, isRifx, name: nameOf(head, form), headLength, chunks, end: at, sizeBytes }
}

/** The chunks of a RIFF of some type inside a file; undefined if it has another type or a chunk exceeds it. */
export async function chunksOfRiff(
  file: FileHandle,
  { bodyStart, bodyLength }: Pick<Chunk, 'bodyStart' | 'bodyLength'>,
  type: string,
): Promise<readonly Chunk[] | undefined> {
  const end = bodyStart + bodyLength
  if ((await readAt(file, bodyStart, 4)).toString('latin1') !== type) return undefined
  const chunks: Chunk[] = []
  for (let at = bodyStart + 4; at + LAYOUT.riff.chunk <= end; ) {
    const chunk = chunkAt(await readAt(file, at, 24), at, 'riff', {
      sizeBytes: end,
      longData: undefined,
      isRifx: false,
    })
    if (!chunk || chunks.length > MAX_STRUCTURES) return undefined
    chunks.push(chunk)
    at = chunk.end
  }
  return chunks
}

/** Structures of a file of chunks, as a census lists them. */
export function chunkStructures({ name, headLength, chunks, end, sizeBytes }: ChunkFile): readonly Structure[] {
  return [
    { path: name, start: 0, length: headLength },
    ...chunks.map(({ id, list, start, end: last }) => ({
      path: `${name}/${id.trim()}${name.startsWith('RIFF/AVI') && list && !USUAL_LISTS.has(list) ? ` ${list}` : ''}`,
      ...{ start, length: last - start },
    })),
    ...(sizeBytes > end ? [{ path: 'trailing bytes', start: end, length: sizeBytes - end }] : []),
  ]
}

function formOf(head: Buffer): ChunkForm | undefined {
  const magic = head.toString('latin1', 0, 4)
  if (magic === 'RIFF' || magic === RIFX) return 'riff'
  if (magic === 'RF64' || magic === 'BW64') return 'rf64'
  if (magic === 'caff') return 'caf'
  if (magic === 'FORM' && /^AIF[FC]$/.test(head.toString('latin1', 8, 12))) return 'aiff'
  return head.toString('hex', 0, 16) === RIFF_GUID ? 'w64' : undefined
}

function nameOf(head: Buffer, form: ChunkForm): string {
  if (form === 'caf') return 'caff'
  if (form === 'w64') return 'W64'
  return `${head.toString('latin1', 0, 4)}/${head.toString('latin1', 8, 12).trim()}`
}

function endOf(head: Buffer, form: ChunkForm, sizeBytes: number, isRifx: boolean): number {
  if (form === 'aiff') return 8 + head.readUInt32BE(4)
  if (form !== 'riff') return sizeBytes
  const size = isRifx ? head.readUInt32BE(4) : head.readUInt32LE(4)
  // AVI continues in further RIFFs (OpenDML). A file from a pipe states no size.
  return isStreamedSize(size) || head.toString('latin1', 8, 11) === 'AVI' ? sizeBytes : 8 + size
}

function chunkAt(
  bytes: Buffer,
  start: number,
  form: ChunkForm,
  file: { readonly sizeBytes: number; readonly longData: number | undefined; readonly isRifx: boolean },
): Chunk | undefined {
  const bodyStart = start + LAYOUT[form].chunk
  const id = idOf(bytes, form)
  const stated = file.isRifx ? bytes.readUInt32BE(4) : LAYOUT[form].stated(bytes)
  const left = file.sizeBytes - bodyStart
  if (id === null) return undefined
  const list = id === 'LIST' ? bytes.toString('latin1', 8, 12).trim() : null
  // A list of media that was written to a pipe states no length either.
  const isOpenable = id === 'data' || list === 'movi'
  const wanted = isOpenable ? samplesLength(stated, left, form, file.longData) : stated
  // A recorder that loses its power may have stated more samples than it wrote.
  const bodyLength = holdsSamples(id) ? Math.min(wanted, left) : wanted
  if (bodyLength < 0 || bodyLength > left) return undefined
  const end = Math.min(file.sizeBytes, bodyStart + alignedLength(bodyLength, form))
  return { id, list, start, bodyStart, bodyLength, end }
}

/**
 * W64 names its chunks by GUIDs, the first four bytes of which are the id that RIFF would use. Markers and the summary of
 * Vegas and Sound Forge have others. Null for a chunk without a name.
 */
function idOf(bytes: Buffer, form: ChunkForm): string | null {
  const id = bytes.toString('latin1', 0, 4)
  if (/^[\x20-\x7e\xa9\0]{4}$/.test(id)) return id
  return form === 'w64' && isGuid(bytes) ? bytes.toString('hex', 0, 4) : null
}

/** True for a random or a timed GUID: digits in fixed places name its kind. */
function isGuid(bytes: Buffer): boolean {
  const [version, variant] = [(bytes[7] ?? 0) >> 4, (bytes[8] ?? 0) >> 6]
  return (version === 1 || version === 4) && variant === 2
}

function samplesLength(stated: number, left: number, form: ChunkForm, longData: number | undefined): number {
  if (form === 'riff') return lengthOfSamples(stated, left)
  if (form === 'rf64' && stated === UNKNOWN) return longData ?? left
  return stated === UNKNOWN || stated < 0 ? left : stated
}

/** Length of a chunk's body with its padding. */
export function alignedLength(bodyLength: number, form: ChunkForm): number {
  const { align } = LAYOUT[form]
  return Math.ceil(bodyLength / align) * align
}

/** True if a chunk holds the samples. */
export function holdsSamples(id: string): boolean {
  return id === 'data' || id === 'SSND'
}
