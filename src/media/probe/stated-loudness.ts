import type { FileHandle } from 'node:fs/promises'
import { BEXT_LOUDNESS_END, hasLoudness } from './bext-loudness.js'
import { waveChunks } from './wave-chunks.js'

/**
 * True if a Broadcast WAV states its loudness. Those figures of the bext chunk describe only the original audio.
 *
 * @param file an open RIFF, RF64 or BW64 file
 */
export async function statesLoudness(file: FileHandle): Promise<boolean> {
  const bext = (await waveChunks(file)).find(({ id }) => id === 'bext')
  if (!bext || bext.size < BEXT_LOUDNESS_END) return false
  const { buffer } = await file.read(Buffer.alloc(BEXT_LOUDNESS_END), 0, BEXT_LOUDNESS_END, bext.at + 8)
  return hasLoudness(buffer)
}
