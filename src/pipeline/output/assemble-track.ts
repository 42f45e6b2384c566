import type { Recipe } from '../../config/preset-schema.js'
import {
  alignedVoice,
  applyGain,
  decodePcm,
  joinChunks,
  type Loudness,
  loudnessGain,
  measureLoudness,
  meteredPcm,
  type PcmStream,
  pcmFormatFor,
  type SampleRange,
  type SampleType,
  sampleBytes,
  splice,
} from '../../media/index.js'
import type { MediaInfo } from '../../media/media-info.js'
import { isInParts, type TrackPlan } from '../plan/plan-tracks.js'
import { closeRange } from '../plan/segments.js'
import type { ObtainedPiece } from '../voice/obtain-voices.js'

export interface AssembleOptions {
  readonly recipe: Recipe
  readonly signal?: AbortSignal | undefined
}

/** A track with its regenerated parts in place. */
export interface AssembledTrack {
  readonly audioIndex: number
  readonly stream: PcmStream
  /** Ranges in which it differs from the track as decoded; null if all of it may. */
  readonly changed: readonly SampleRange[] | null
  /** The loudness before and after, available once {@link stream} has been read to its end. */
  loudness(): Promise<{ readonly before: Loudness; readonly after: Loudness }>
}

const UNKNOWN: Loudness = { integratedLufs: null, truePeakDbtp: null, rangeLu: null }

/**
 * Assembles a track: splices the regenerated audio into the original at the same samples, and adjusts it to the
 * recipe's loudness target. Streams; only a loudness target needs an extra pass.
 */
export async function assembleTrack(
  media: MediaInfo,
  track: TrackPlan,
  pieces: readonly ObtainedPiece[],
  options: AssembleOptions,
): Promise<AssembledTrack> {
  const original = meteredPcm(originalTrack(media, track, pieces, options))
  const spliced = splice({
    original: original.stream,
    pieces: pieces.map((piece) => splicedPiece(track, piece, options)),
  })
  const levelled = meteredPcm(await toTarget(spliced, options.recipe.loudness))
  // Runs beside the encoder, which limits the mux. A fault shows in the receipt.
  const sent = pieces[0]?.sentLoudness()
  sent?.catch(() => {})
  return {
    audioIndex: track.stream.audioIndex,
    stream: levelled.stream,
    changed: isInParts(track, options.recipe)
      ? pieces.map(({ plan, range }) => closeRange(plan.range, range.endSample))
      : null,
    loudness: async () => ({
      before: original.loudness() ?? (await sent) ?? UNKNOWN,
      after: levelled.loudness() ?? UNKNOWN,
    }),
  }
}

function originalTrack(
  media: MediaInfo,
  { stream }: TrackPlan,
  pieces: readonly ObtainedPiece[],
  { signal }: AssembleOptions,
): PcmStream {
  const folded = pieces[0]?.plan.channels.kind === 'downmix'
  const trackEnd = pieces.find(({ plan }) => plan.cut.endSample === null)?.range.endSample ?? null
  return decodePcm(media, {
    audioIndex: stream.audioIndex,
    channels: folded ? { kind: 'downmix' } : { kind: 'all' },
    ...(trackEnd === null ? {} : { range: { startSample: 0, endSample: trackEnd } }),
    signal,
  })
}

function splicedPiece({ stream }: TrackPlan, piece: ObtainedPiece, { recipe, signal }: AssembleOptions) {
  const { plan, range } = piece
  const answers = piece.chunks.map(({ alignment }) => alignment.answer.pcm.format.sample)
  const sample = voiceSample(pcmFormatFor(stream).sample, answers, recipe)
  const crossfadeSamples = Math.round(recipe.segments.crossfadeSec * stream.sampleRate)
  return {
    range: closeRange(plan.range, range.endSample),
    channels: plan.channels,
    voice: joinedVoice(piece, { sample, crossfadeSamples, signal }),
    handleSamples: plan.range.startSample - range.startSample,
    crossfadeSamples,
    share: recipe.mix / 100,
  }
}

/** Two passes: measures the loudness, then applies the missing gain. */
async function toTarget(stream: PcmStream, target: Recipe['loudness']): Promise<PcmStream> {
  if (target === null) return stream
  const measured = await measureLoudness(stream)
  const { targetLufs, truePeakDbtp } = target
  return applyGain(stream, loudnessGain(measured, { integratedLufs: targetLufs, truePeakDbtp }))
}

interface JoinedVoiceOptions {
  /** The sample type of the track. */
  readonly sample: SampleType
  readonly crossfadeSamples: number
  readonly signal?: AbortSignal | undefined
}

/**
 * The regenerated audio of a piece as one stream, handles included. Parts are matched in level and crossfaded in their
 * pauses.
 */
function joinedVoice({ range, chunks, joins }: ObtainedPiece, options: JoinedVoiceOptions): PcmStream {
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

/**
 * The sample type in which a voice is streamed. Gains and splices need the track's own type. Otherwise a narrower type
 * of the regenerated audio is kept. For a lossy track, 16 bits reach the encoder as half the bytes, with equal values.
 */
export function voiceSample(own: SampleType, answers: readonly SampleType[], { loudness }: Recipe): SampleType {
  const [answer, ...more] = answers
  if (!answer || more.length > 0 || loudness !== null) return own
  return sampleBytes(answer) < sampleBytes(own) ? answer : own
}
