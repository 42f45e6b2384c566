import type { Recipe } from '../config/preset-schema.js'
import { type SampleType, sampleBytes } from '../media/index.js'

/**
 * In which type a voice flows: the track's own, in which gains and joints are reckoned; the answer's where nothing is
 * reckoned with it and it is narrower. An answer of 16 bits for a lossy track then flows to the encoder as half the
 * bytes, and is the same.
 */
export function voiceSample(own: SampleType, answers: readonly SampleType[], { loudness }: Recipe): SampleType {
  const [answer, ...more] = answers
  if (!answer || more.length > 0 || loudness !== null) return own
  return sampleBytes(answer) < sampleBytes(own) ? answer : own
}
