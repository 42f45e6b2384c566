import type { Recipe } from '../../config/preset-schema.js'
import {
  alignedVoice,
  applyGain,
  decodePcm,
  joinVoiceChunks,
  type Loudness,
  loudnessGain,
  measureLoudness,
  meteredPcm,
  PartMeter,
  type PcmSection,
  type PcmStream,
  pcmFormatFor,
  type SampleRange,
  type SampleType,
  sampleBytes,
  splice,
} from '../../media/index.js'
import type { MediaInfo } from '../../media/media-info.js'
import { isNewStream } from '../../media/write/remux/plan-streams.js'
import { pieceGroups } from '../plan/piece-groups.js'
import type { JobPlan } from '../plan/plan-job.js'
import { isInParts, type TrackPlan } from '../plan/plan-tracks.js'
import { rangesInCut } from '../plan/segments.js'
import type { ObtainedPiece } from '../voice/obtain-voices.js'
import type { TrackRecord } from './receipt.js'

interface AssembleOptions {
  readonly recipe: Recipe
  /** How much lower true peaks are limited before a lossy codec, which lifts them. */
  readonly reserveDb: number
  readonly signal?: AbortSignal | undefined
}

/** A track with its regenerated parts in place. */
export interface AssembledTrack {
  readonly audioIndex: number
  readonly stream: PcmStream
  /** Ranges in which it differs from the track as decoded; null if all of it may. */
  readonly changed: readonly SampleRange[] | null
  /** The loudness before and after, available once {@link stream} has been read; that of its changed parts if only these were. */
  loudness(): Promise<TrackRecord['loudness']>
}

const UNKNOWN: Loudness = { integratedLufs: null, truePeakDbtp: null, rangeLu: null }

/**
 * Assembles a track: splices the regenerated audio into the original at the same samples, and adjusts it to the
 * recipe's loudness target. Streams; only a loudness target needs an extra pass. If only parts of a track change, and
 * they can be read without the rest, only their loudness is measured.
 */
export async function assembleTrack(
  { media, mux }: Pick<JobPlan, 'media' | 'mux'>,
  track: TrackPlan,
  pieces: readonly ObtainedPiece[],
  options: AssembleOptions,
): Promise<AssembledTrack> {
  const original = meteredPcm(originalTrack(media, track, pieces, options))
  const spliced = splice({
    original: original.stream,
    pieces: pieces.map((piece) => splicedPiece(track, piece, options)),
  })
  const isIndexed = mux.indexedTracks?.includes(track.stream.audioIndex) ?? false
  const changed = pieces.flatMap(({ plan, range }) => rangesInCut(plan.ranges, range))
  const meters = { before: new PartMeter(changed), after: new PartMeter(changed) }
  const sections = isIndexed ? changedSections(media, track, pieces, { ...options, meters }) : undefined
  const levelled = meteredPcm(
    await toTarget(spliced, options.recipe.loudness, isLossy(mux, track) ? options.reserveDb : 0),
  )
  return {
    audioIndex: track.stream.audioIndex,
    stream: { ...levelled.stream, sections },
    changed: isInParts(track, options.recipe) ? changed : null,
    loudness: async () => {
      const after = levelled.loudness()
      const { before: partBefore, after: partAfter } = meters
      if (after === null && partAfter.loudness !== null)
        return { before: partBefore.loudness ?? UNKNOWN, after: partAfter.loudness, of: 'parts' }
      return { before: original.loudness() ?? (await pieces[0]?.sentLoudness) ?? UNKNOWN, after: after ?? UNKNOWN }
    },
  }
}

/** Sound behind the last piece of a section, in which joints of packets are looked for. */
const TAIL_SEC = 5

/** The regenerated parts with the original around them, each read from the same sample as its cuts. */
function changedSections(
  media: MediaInfo,
  track: TrackPlan,
  pieces: readonly ObtainedPiece[],
  { meters, ...options }: AssembleOptions & { readonly meters: Readonly<Record<'before' | 'after', PartMeter>> },
): readonly PcmSection[] {
  const { audioIndex, sampleRate } = track.stream
  return pieceGroups(track).flatMap(({ pieces: planned, readFromSample: startSample }) => {
    const own = pieces.filter(({ plan }) => planned.includes(plan))
    if (own.length === 0) return []
    const trackEnd = endOfTrack(own)
    const endSample = trackEnd ?? Math.max(...own.map(({ range }) => range.endSample)) + TAIL_SEC * sampleRate
    const range = { startSample, endSample }
    const decoded = decodePcm(media, { audioIndex, range, startsLate: true, signal: options.signal })
    const original = meters.before.over(decoded, startSample)
    const spliced = splice({ original, pieces: own.map((piece) => splicedPiece(track, piece, options)), startSample })
    return [{ startSample, stream: meters.after.over(spliced, startSample) }]
  })
}

/** The last sample of a track, if a piece reaches it. */
function endOfTrack(pieces: readonly ObtainedPiece[]): number | null {
  return pieces.find(({ plan }) => plan.cut.endSample === null)?.range.endSample ?? null
}

function originalTrack(
  media: MediaInfo,
  { stream }: TrackPlan,
  pieces: readonly ObtainedPiece[],
  { signal }: AssembleOptions,
): PcmStream {
  const folded = pieces[0]?.plan.channels.kind === 'downmix'
  const trackEnd = endOfTrack(pieces)
  return decodePcm(media, {
    audioIndex: stream.audioIndex,
    channels: folded ? { kind: 'downmix' } : { kind: 'all' },
    range: trackEnd === null ? undefined : { startSample: 0, endSample: trackEnd },
    signal,
  })
}

function splicedPiece({ stream }: TrackPlan, piece: ObtainedPiece, { recipe, signal }: AssembleOptions) {
  const { plan, range } = piece
  const types = piece.chunks.map(({ alignment }) => alignment.regenerated.pcm.format.sample)
  const sample = voiceSample(pcmFormatFor(stream).sample, types, recipe)
  const crossfadeSamples = Math.round(recipe.segments.crossfadeSec * stream.sampleRate)
  const ranges = rangesInCut(plan.ranges, range)
  return {
    ranges,
    channels: plan.channels,
    voice: joinedVoice(piece, sample, crossfadeSamples, signal),
    handleSamples: (ranges[0] ?? range).startSample - range.startSample,
    crossfadeSamples,
    share: recipe.mix / 100,
  }
}

function isLossy({ streams }: JobPlan['mux'], { stream: { audioIndex } }: TrackPlan): boolean {
  return streams.some((own) => isNewStream(own) && own.input.audioIndex === audioIndex && !own.encoding.lossless)
}

/** Two passes: measures the loudness, then applies the missing gain. */
async function toTarget(stream: PcmStream, target: Recipe['loudness'], reserveDb: number): Promise<PcmStream> {
  if (target === null) return stream
  const measured = await measureLoudness(stream)
  const truePeakDbtp = target.truePeakDbtp - reserveDb
  return applyGain(stream, loudnessGain(measured, { integratedLufs: target.targetLufs, truePeakDbtp }))
}

/** The regenerated audio of a piece with handles, as one stream. Parts are matched in level and crossfaded. */
function joinedVoice(
  { range, chunks, joins }: ObtainedPiece,
  sample: SampleType,
  crossfadeSamples: number,
  signal: AbortSignal | undefined,
): PcmStream {
  const parts = chunks.map(({ cut, alignment }) => ({
    startSample: cut.range.startSample - range.startSample,
    voice: { ...alignedVoice(cut, alignment, { sample, signal }), sampleCount: cut.sampleCount },
  }))
  const [only] = parts
  if (only && parts.length === 1) return only.voice
  return joinVoiceChunks({
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
export function voiceSample(own: SampleType, types: readonly SampleType[], { loudness }: Recipe): SampleType {
  const [type, ...more] = types
  if (!type || more.length > 0 || loudness !== null) return own
  return sampleBytes(type) < sampleBytes(own) ? type : own
}
