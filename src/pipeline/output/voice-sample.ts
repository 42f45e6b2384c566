import type { Recipe } from '../../config/preset-schema.js'
import { type SampleType, sampleBytes } from '../../media/index.js'

/**
 * The sample type in which a voice is streamed. Gains and splices need the track's own type. Otherwise a narrower type
 * of the regenerated audio is kept. For a lossy track, 16 bits reach the encoder as half the bytes, with equal values.
 */
export function voiceSample(own: SampleType, answers: readonly SampleType[], { loudness }: Recipe): SampleType {
  const [answer, ...more] = answers
  if (!answer || more.length > 0 || loudness !== null) return own
  return sampleBytes(answer) < sampleBytes(own) ? answer : own
}
