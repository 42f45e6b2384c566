import type { FileHandle } from 'node:fs/promises'
import { waveChunks } from './wave-chunks.js'

/** Place of the version in a bext chunk, and of the five loudness figures that version 2 brought (EBU Tech 3285). */
const VERSION_AT = 346
const LOUDNESS_AT = 412
const FIGURES = 5
/** What a writer puts where it measured nothing. */
const NOT_MEASURED = new Set([0, 0x7fff])

/**
 * Whether a Broadcast WAV says how loud it is: figures of its bext chunk that speak of the old sound alone.
 *
 * @param file an open RIFF, RF64 or BW64 file
 */
export async function statesLoudness(file: FileHandle): Promise<boolean> {
  const bext = (await waveChunks(file)).find(({ id }) => id === 'bext')
  const needed = LOUDNESS_AT + 2 * FIGURES
  if (!bext || bext.size < needed) return false
  const { buffer } = await file.read(Buffer.alloc(needed), 0, needed, bext.at + 8)
  if (buffer.readUInt16LE(VERSION_AT) < 2) return false
  return Array.from({ length: FIGURES }, (_, n) => buffer.readUInt16LE(LOUDNESS_AT + 2 * n)).some(
    (figure) => !NOT_MEASURED.has(figure),
  )
}
