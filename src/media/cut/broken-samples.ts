import { type PcmFile, readPcmFile } from '../pcm/pcm-file.js'
import { valuesOf } from '../pcm/pcm-samples.js'

/**
 * 240 dB above full scale. The squares of larger values overflow in a voice model, which then returns no numbers at all.
 * Integers of 32 bits that were saved as floats without a scale are 186 dB above it.
 */
const LARGEST = 2 ** 40

/** A sample that no sound has. */
export interface BrokenSample {
  /** Its instant, from the first sample of the file. */
  readonly sample: number
  /** False for an infinity or "NaN", true for a number that is far too large. */
  readonly isNumber: boolean
}

/** The first sample of floating-point sound that no sound has; null if there is none. */
export async function firstBrokenSample(file: PcmFile, signal: AbortSignal | undefined): Promise<BrokenSample | null> {
  const { sample, channels } = file.format
  if (sample !== 'f32' && sample !== 'f64') return null
  let before = 0
  for await (const buffer of readPcmFile(file, { signal }).buffers()) {
    const values = valuesOf(buffer, sample)
    for (let at = 0; at < values.length; at++) {
      const value = values[at] as number
      // False for "NaN" too.
      if (!(Math.abs(value) <= LARGEST))
        return { sample: Math.floor((before + at) / channels), isNumber: Number.isFinite(value) }
    }
    before += values.length
  }
  return null
}
