import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../core/read-at.js'
import { readFlacFacts } from './ends/flac-end.js'
import { nearReader } from './near-reader.js'
import { lengthOfSamples } from './streamed-size.js'

/** Offset of the version in the content of a bext chunk, and of its five loudness figures (EBU Tech 3285, version 2). */
const VERSION_AT = 346
export const LOUDNESS_AT = 412
export const LOUDNESS_FIGURES = 5
/** Value of a figure that nobody measured. */
export const NOT_MEASURED = 0x7fff

/** Bytes of a bext chunk's content up to the end of its loudness figures. */
export const BEXT_LOUDNESS_END = LOUDNESS_AT + 2 * LOUDNESS_FIGURES

/** The size that `ds64` states instead. */
const LONG = 0xffff_ffff

/** A chunk may have no content: a file of nothing else would fill the memory. */
const MOST_CHUNKS = 500_000

/** A chunk of a RIFF. Its content begins 8 bytes behind `at`. */
export interface WaveChunk {
  readonly id: string
  readonly at: number
  readonly size: number
}

const FORMS = ['RIFF', 'RIFX', 'RF64', 'BW64', 'FORM']

/** Lists the first chunks of a RIFF, RF64, BW64 or AIFF; none of another file. @param order `BE` in a RIFX and an AIFF */
export async function waveChunks(file: FileHandle, order: 'LE' | 'BE' = 'LE'): Promise<readonly WaveChunk[]> {
  const { size: fileSize } = await file.stat()
  const chunks: WaveChunk[] = []
  let longData = 0
  const read = nearReader(file)
  if (!FORMS.includes((await read(0, 4)).toString('latin1'))) return []
  for (let at = 12; at + 8 <= fileSize && chunks.length < MOST_CHUNKS; ) {
    const head = await read(at, 24)
    if (head.length < 8) break
    const id = head.toString('latin1', 0, 4)
    const short = order === 'LE' ? head.readUInt32LE(4) : head.readUInt32BE(4)
    if (id === 'ds64' && head.length >= 24) longData = Number(head.readBigUInt64LE(16))
    const left = fileSize - at - 8
    const size = id === 'data' ? (short === LONG && longData) || lengthOfSamples(short, left) : short
    if (size > left) break
    chunks.push({ id, at, size })
    at += 8 + size + (size & 1)
  }
  return chunks
}

/** True if the content of a bext chunk states a loudness. Zeros and 0x7fff come from writers that measured nothing. */
export function hasLoudness(bext: Buffer): boolean {
  if (bext.length < BEXT_LOUDNESS_END || bext.readUInt16LE(VERSION_AT) < 2) return false
  const figures = Array.from({ length: LOUDNESS_FIGURES }, (_, place) => bext.readUInt16LE(LOUDNESS_AT + 2 * place))
  return figures.some((figure) => figure !== 0 && figure !== NOT_MEASURED)
}

/** Number of samples that the header of a FLAC or WAV/RF64 file states; null without one. */
export async function waveSampleCount(file: FileHandle): Promise<number | null> {
  const magic = (await readAt(file, 0, 4)).toString('latin1')
  if (magic === 'fLaC') return (await readFlacFacts(file))?.samples || null
  if (magic !== 'RIFF' && magic !== 'RF64') return null
  const chunks = await waveChunks(file)
  const [format, data] = ['fmt ', 'data'].map((wanted) => chunks.find(({ id }) => id === wanted))
  if (!format || !data || format.size < 14) return null
  const blockAlign = (await readAt(file, format.at + 20, 2)).readUInt16LE(0)
  return blockAlign > 0 ? Math.floor(data.size / blockAlign) : null
}
