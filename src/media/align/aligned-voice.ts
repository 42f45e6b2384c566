import type { PcmStream, SampleType } from '../pcm/pcm.js'
import { slicePcm } from '../pcm/pcm-streams.js'
import type { VoiceCut } from '../voice-cut.js'
import type { VoiceAlignment } from './align-voice.js'
import { filteredPcm } from './answer-pcm.js'

export interface AlignedVoiceOptions {
  /** The sample type of the track. */
  readonly sample: SampleType
  readonly signal?: AbortSignal | undefined
}

/**
 * The regenerated audio ready to splice: at the cut's rate and channels, without its lag, exactly `cut.sampleCount`
 * samples. Bits are unchanged if both sample types are equal.
 */
export function alignedVoice(cut: VoiceCut, alignment: VoiceAlignment, options: AlignedVoiceOptions): PcmStream {
  const { sampleRate, channels, channelLayout } = cut
  const format = { sampleRate, channels, channelLayout, sample: options.sample }
  const { path, filters, startSample } = alignment.answer
  const conformed = filteredPcm({ path, filters, format, seeksExactly: false, signal: options.signal })
  return slicePcm(conformed, startSample + alignment.lagSamples, cut.sampleCount)
}
