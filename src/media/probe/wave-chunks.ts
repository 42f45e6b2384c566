import { type FileHandle, open } from 'node:fs/promises'
import { readAt } from '../../core/read-at.js'
import { nearReader } from './near-reader.js'

/** Offset of the version in the content of a bext chunk, and of its five loudness figures (EBU Tech 3285, version 2). */
const VERSION_AT = 346
export const LOUDNESS_AT = 412
const FIGURES = 5
/** Value of a figure that nobody measured. */
export const NOT_MEASURED = 0x7fff

/** The figures of sound that nobody measured. */
const UNMEASURED = Buffer.from(new Uint16Array(FIGURES).fill(NOT_MEASURED).buffer)

/** Bytes of a bext chunk's content up to the end of its loudness figures. */
export const BEXT_LOUDNESS_END = LOUDNESS_AT + 2 * FIGURES

/** Chunks that the muxer writes itself, or that describe only the bytes of the old file. */
const NOT_COPIED = new Set([
  ...['fmt ', 'data', 'fact', 'ds64', 'JUNK', 'junk', 'PAD ', 'FLLR'],
  ...['PEAK', 'levl', 'LGWV', 'MD5 ', 'C2PA', 'id3 ', 'ID3 '],
])
/** A larger chunk is not a description. */
const MAX_CHUNK_BYTES = 16 * 1024 * 1024
const MAX_RIFF_BYTES = 0xffff_ff00

/** A chunk may have no content: a file of nothing else would fill the memory. */
const MOST_CHUNKS = 500_000

interface WaveChunk {
  readonly id: string
  readonly at: number
  readonly size: number
}

/**
 * Copies metadata of production audio that ffmpeg does not write (bext, iXML, cue points and their labels, aXML, chna, …).
 * Appends it to the data of a finished WAV or RF64. Does nothing if the input has none.
 *
 * @param loudness five fields for a bext chunk that states the loudness of the old sound; not measured by default
 * @returns ids of the copied chunks
 */
export async function copyWaveChunks(
  inputPath: string,
  outputPath: string,
  loudness: Buffer = UNMEASURED,
): Promise<readonly string[]> {
  await using input = await open(inputPath, 'r')
  await using output = await open(outputPath, 'r+')
  const chunks = await Promise.all(
    (await waveChunks(input)).map(async (chunk) => ((await isWanted(input, chunk)) ? [chunk] : [])),
  )
  const wanted = chunks.flat()
  if (wanted.length === 0) return []
  let end = (await output.stat()).size
  if (end & 1) end += 1
  for (const { id, at, size } of wanted) {
    const bytes = Buffer.alloc(8 + size + (size & 1))
    await input.read(bytes, 0, 8 + size, at)
    if (id === 'bext' && hasLoudness(bytes.subarray(8, 8 + size))) loudness.copy(bytes, 8 + LOUDNESS_AT)
    await output.write(bytes, 0, bytes.length, end)
    end += bytes.length
  }
  await writeRiffSize(output, end - 8)
  return wanted.map(({ id }) => id)
}

/** Lists the first chunks of a RIFF, RF64 or BW64 file from their headers. @param order of the bytes of a size; `BE` in a RIFX */
export async function waveChunks(file: FileHandle, order: 'LE' | 'BE' = 'LE'): Promise<readonly WaveChunk[]> {
  const { size: fileSize } = await file.stat()
  const chunks: WaveChunk[] = []
  let longData = 0
  const read = nearReader(file)
  for (let at = 12; at + 8 <= fileSize && chunks.length < MOST_CHUNKS; ) {
    const head = await read(at, 24)
    if (head.length < 8) break
    const id = head.toString('latin1', 0, 4)
    const short = order === 'LE' ? head.readUInt32LE(4) : head.readUInt32BE(4)
    if (id === 'ds64' && head.length >= 24) longData = Number(head.readBigUInt64LE(16))
    const size = id === 'data' && short === 0xffff_ffff ? longData : short
    if (at + 8 + size > fileSize) break
    chunks.push({ id, at, size })
    at += 8 + size + (size & 1)
  }
  return chunks
}

async function isWanted(file: FileHandle, { id, at, size }: WaveChunk): Promise<boolean> {
  if (NOT_COPIED.has(id) || size > MAX_CHUNK_BYTES) return false
  if (id !== 'LIST') return true
  // An INFO list contains tags, which the muxer writes. An adtl list labels the cue points.
  return (await readAt(file, at + 8, 4)).toString('latin1') !== 'INFO'
}

async function writeRiffSize(file: FileHandle, size: number): Promise<void> {
  const head = await readAt(file, 0, 28)
  const long = head.toString('latin1', 0, 4) === 'RF64' && head.toString('latin1', 12, 16) === 'ds64'
  const bytes = Buffer.alloc(long ? 8 : 4)
  if (long) bytes.writeBigUInt64LE(BigInt(size))
  else bytes.writeUInt32LE(Math.min(size, MAX_RIFF_BYTES))
  await file.write(bytes, 0, bytes.length, long ? 20 : 4)
}

/** True if the content of a bext chunk states a loudness. Zeros and 0x7fff come from writers that measured nothing. */
export function hasLoudness(bext: Buffer): boolean {
  if (bext.length < BEXT_LOUDNESS_END || bext.readUInt16LE(VERSION_AT) < 2) return false
  return places().some((at) => ![0, NOT_MEASURED].includes(bext.readUInt16LE(at)))
}

function places(): readonly number[] {
  return Array.from({ length: FIGURES }, (_, place) => LOUDNESS_AT + 2 * place)
}

/** Number of samples that the header of a FLAC or WAV/RF64 file states; null without one. */
export async function waveSampleCount(file: FileHandle): Promise<number | null> {
  const head = await readAt(file, 0, 26)
  const magic = head.toString('latin1', 0, 4)
  if (magic === 'fLaC') return flacSampleCount(head)
  if (magic !== 'RIFF' && magic !== 'RF64') return null
  const chunks = await waveChunks(file)
  const [format, data] = ['fmt ', 'data'].map((wanted) => chunks.find(({ id }) => id === wanted))
  if (!format || !data || format.size < 14) return null
  const blockAlign = (await readAt(file, format.at + 20, 2)).readUInt16LE(0)
  return blockAlign > 0 ? Math.floor(data.size / blockAlign) : null
}

/** STREAMINFO (RFC 9639, section 8.2): the 36 bits before the MD5. */
function flacSampleCount(head: Buffer): number | null {
  if (head.length < 26) return null
  return (head.readUInt8(21) & 0x0f) * 2 ** 32 + head.readUInt32BE(22) || null
}
