import type { PcmStream, SampleType } from '../pcm/pcm.js'
import { readPcmFile } from '../pcm/pcm-file.js'
import { slicePcm } from '../pcm/pcm-streams.js'
import type { VoiceCut } from '../voice-cut.js'
import type { VoiceAlignment } from './align-voice.js'

interface AlignedVoiceOptions {
  /** The sample type of the track. */
  readonly sample: SampleType
  readonly signal?: AbortSignal | undefined
}

/**
 * The regenerated audio ready to splice: at the cut's rate and channels, without its lag, exactly `cut.sampleCount`
 * samples. Bits are unchanged if both sample types are equal.
 */
export function alignedVoice(cut: VoiceCut, alignment: VoiceAlignment, options: AlignedVoiceOptions): PcmStream {
  const { pcm, startSample } = alignment.regenerated
  return slicePcm(readPcmFile(pcm, options), startSample + alignment.lagSamples, cut.sampleCount)
}
