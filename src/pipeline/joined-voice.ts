import { alignedVoice, joinChunks, type PcmStream, type SampleType } from '../media/index.js'
import type { ObtainedPiece } from './obtain-voices.js'

export interface JoinedVoiceOptions {
  /** The sample type of the track it is laid into. */
  readonly sample: SampleType
  readonly crossfadeSamples: number
  readonly signal?: AbortSignal | undefined
}

/**
 * The regenerated voice of a piece as one stream, handles included: its only answer, or the answers of its parts at
 * one level, crossfaded in their pauses.
 */
export function joinedVoice({ range, chunks, joins }: ObtainedPiece, options: JoinedVoiceOptions): PcmStream {
  const { sample, crossfadeSamples, signal } = options
  const parts = chunks.map(({ cut, alignment }) => ({
    startSample: cut.range.startSample - range.startSample,
    voice: { ...alignedVoice(cut, alignment, { sample, signal }), sampleCount: cut.sampleCount },
  }))
  const [only] = parts
  if (only && parts.length === 1) return only.voice
  return joinChunks({
    chunks: parts,
    joins: joins.map((join) => join - range.startSample),
    crossfadeSamples,
    levels: 'match',
  })
}
