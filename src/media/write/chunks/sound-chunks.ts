import type { PcmDonor } from '../pcm-in-place/bext-loudness.js'
import type { StaleChunk } from '../pcm-in-place/stale-chunks.js'
import type { ChunkFile, ChunkForm } from '../structure/chunks.js'

/** A file of chunks with sound alone. */
export interface SoundFile {
  readonly file: ChunkFile
  readonly stale: readonly StaleChunk[]
}

/** A side file of the same form. */
export interface ChunkDonor extends PcmDonor {
  readonly file: ChunkFile
  /** The form type of AIFF and AIFF-C. */
  readonly formType: Buffer
  /** Samples for each channel; null for a coding with its own count. */
  readonly sampleCount: number | null
}

const WAVE = ['fmt ', 'fact', 'data']

/** Chunks that hold the samples or state their coding, by form; in the order in which missing ones are added. */
export const CODING_CHUNKS: Readonly<Record<ChunkForm, readonly string[]>> = {
  riff: WAVE,
  rf64: WAVE,
  w64: WAVE,
  // `FVER` is that of AIFF-C, which every coding but plain PCM needs.
  aiff: ['FVER', 'COMM', 'SSND'],
  caf: ['desc', 'kuki', 'pakt', 'data'],
}

/** True if a chunk holds the samples or states their coding. */
export function isOfCoding(form: ChunkForm, id: string): boolean {
  return CODING_CHUNKS[form].includes(id)
}
