import { type FileHandle, open } from 'node:fs/promises'
import { readAt } from '../../../../core/read-at.js'
import {
  hasLoudness,
  LOUDNESS_AT,
  LOUDNESS_FIGURES,
  NOT_MEASURED,
  type WaveChunk,
  waveChunks,
} from '../../../probe/wave-chunks.js'

/** Chunks that the muxer writes itself, or that describe only the bytes of the old file. */
const NOT_COPIED = new Set([
  ...['fmt ', 'data', 'fact', 'ds64', 'JUNK', 'junk', 'PAD ', 'FLLR'],
  ...['PEAK', 'levl', 'LGWV', 'MD5 ', 'C2PA', 'id3 ', 'ID3 '],
])
/** A larger chunk is not a description. */
const MAX_CHUNK_BYTES = 16 * 1024 * 1024
const MAX_RIFF_BYTES = 0xffff_ff00

/** The figures of sound that nobody measured. */
const UNMEASURED = Buffer.from(new Uint16Array(LOUDNESS_FIGURES).fill(NOT_MEASURED).buffer)

/**
 * Copies metadata of production audio that ffmpeg does not write (bext, iXML, cue points and their labels, aXML, chna, …).
 * Appends it to the data of a finished WAV or RF64. Does nothing if the input has none.
 *
 * @param loudness five fields for a bext chunk that states the loudness of the old sound; not measured by default
 */
export async function copyWaveChunks(
  inputPath: string,
  outputPath: string,
  loudness: Buffer = UNMEASURED,
): Promise<void> {
  await using input = await open(inputPath, 'r')
  await using output = await open(outputPath, 'r+')
  const chunks = await Promise.all(
    (await waveChunks(input)).map(async (chunk) => ((await isWanted(input, chunk)) ? [chunk] : [])),
  )
  const wanted = chunks.flat()
  if (wanted.length === 0) return
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
