import type { PcmFormat } from '../pcm/pcm.js'
import { fullScaleOf, valuesOf } from '../pcm/pcm-samples.js'
import type { VoiceCut } from '../voice-cut.js'
import type { VoiceAlignment } from './align-voice.js'
import { pairedParts } from './paired-parts.js'
import type { SoundChangeOptions } from './sound-change.js'

/**
 * Reads parts of a cut beside the same parts of the output, after alignment. Memory holds one part, in the same arrays.
 *
 * @returns the first channel of both, of one length and in place; full scale 1; valid until the next pair
 */
export async function* soundPairs(
  cut: VoiceCut,
  alignment: VoiceAlignment,
  { ranges, share, signal }: SoundChangeOptions,
) {
  const longest = Math.max(0, ...ranges.map((range) => range.endSample - range.startSample))
  const room = { before: new Float32Array(longest), after: new Float32Array(longest) }
  for await (const [was, is] of pairedParts(cut, alignment, ranges, signal)) {
    const before = firstChannel(was, cut.pcm.format, room.before)
    const after = firstChannel(is, alignment.regenerated.pcm.format, room.after)
    // A callback makes garbage for each sample.
    for (let i = 0; i < after.length; i++) after[i] = share * (after[i] ?? 0) + (1 - share) * (before[i] ?? 0)
    yield { before, after }
  }
}

function firstChannel(bytes: Buffer, { sample, channels }: PcmFormat, room: Float32Array): Float32Array {
  const values = valuesOf(bytes, sample)
  const scale = fullScaleOf(sample)
  const channel = room.subarray(0, values.length / channels)
  for (let i = 0; i < channel.length; i++) channel[i] = (values[i * channels] ?? 0) / scale
  return channel
}
