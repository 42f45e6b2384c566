import type { VoiceAlignment } from './align-voice.js'
import { filteredPcm } from './answer-pcm.js'
import type { PcmStream, SampleType } from './pcm.js'
import { slicePcm } from './pcm-streams.js'
import type { VoiceCut } from './voice-cut.js'

export interface AlignedVoiceOptions {
  /** The sample type of the track it is laid into. */
  readonly sample: SampleType
  readonly signal?: AbortSignal | undefined
}

/**
 * The answer as it is to be laid back: at the cut's rate and channels, its lag taken out, exactly
 * `cut.sampleCount` samples. Where answer and target have the same sample type no bit of it is changed.
 */
export function alignedVoice(cut: VoiceCut, alignment: VoiceAlignment, options: AlignedVoiceOptions): PcmStream {
  const { sampleRate, channels, channelLayout } = cut
  const format = { sampleRate, channels, channelLayout, sample: options.sample }
  const { path, filters, startSample } = alignment.answer
  const conformed = filteredPcm({ path, filters, format, seeksExactly: false, signal: options.signal })
  return slicePcm(conformed, startSample + alignment.lagSamples, cut.sampleCount)
}
