import { type PcmFile, readPcmFile } from '../pcm/pcm-file.js'
import { valuesOf } from '../pcm/pcm-samples.js'

/** The first instant at which floating-point sound holds an infinity or "NaN" in place of a number; null if all are numbers. */
export async function firstBrokenSample(file: PcmFile, signal: AbortSignal | undefined): Promise<number | null> {
  const { sample, channels } = file.format
  if (sample !== 'f32' && sample !== 'f64') return null
  let before = 0
  for await (const chunk of readPcmFile(file, { signal }).chunks()) {
    const values = valuesOf(chunk, sample)
    for (let at = 0; at < values.length; at++) {
      const value = values[at] as number
      // Zero only for a number.
      if (value - value !== 0) return Math.floor((before + at) / channels)
    }
    before += values.length
  }
  return null
}
