import type { CutSound } from '../../media/voice-cut.js'

/** Floating point of 64 bits: no format of PCM has wider samples. */
const SAMPLE_BYTES = 8
/** A service may return another rate: this one is as much as 192 kHz in 32 bits. */
const LEAST_RATE = 96_000
/** A service may return stereo for a mono voice. */
const LEAST_CHANNELS = 2
/** Room for headers, tags and a cover, and for audio that is a little longer. */
const EXTRA_BYTES = 64 * 2 ** 20

/** Length in bytes that regenerated audio of a cut cannot reach, in any lossless format of PCM. */
export function largestAnswerBytes({
  sampleCount,
  sampleRate,
  channels,
}: Pick<CutSound, 'sampleCount' | 'sampleRate' | 'channels'>): number {
  const samples = (sampleCount / sampleRate) * Math.max(sampleRate, LEAST_RATE)
  return Math.ceil(samples * Math.max(channels, LEAST_CHANNELS) * SAMPLE_BYTES) + EXTRA_BYTES
}
