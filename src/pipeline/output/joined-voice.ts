import { alignedVoice, joinChunks, type PcmStream, type SampleType } from '../../media/index.js'
import type { ObtainedPiece } from '../voice/obtain-voices.js'

export interface JoinedVoiceOptions {
  /** The sample type of the track. */
  readonly sample: SampleType
  readonly crossfadeSamples: number
  readonly signal?: AbortSignal | undefined
}

/**
 * The regenerated audio of a piece as one stream, handles included. Parts are matched in level and crossfaded in their
 * pauses.
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
