import { UsageError } from '../../core/errors.js'
import { formatTime } from '../../core/time.js'
import type { ClockRange } from '../../media/index.js'
import { type AudioStreamInfo, audioStreams, isUndescribed, type MediaInfo, pictureOf } from '../../media/media-info.js'
import type { ChannelPick, SampleRange } from '../../media/voice-cut.js'
import type { TrackChoice } from '../../precheck/choices.js'
import { describeTracks, type Limits, subjectTrack } from '../../precheck/index.js'
import { type ChunkLengths, chunkLengths } from './chunk-lengths.js'
import type { JobSettings } from './job-settings.js'
import { pickChannels, pickedChannels } from './pick-channels.js'
import { rangesToSend, type VoiceMaps } from './ranges-to-send.js'
import { joinMeeting, planSegments, withHandles } from './segments.js'

/** One voice file to send. */
export interface PiecePlan {
  readonly audioIndex: number
  readonly channels: ChannelPick
  /** The ranges to replace in the track, in order. Parts whose handles meet are sent as one. */
  readonly ranges: readonly ClockRange[]
  /** The range to cut and send: all of them with handles, without the silence before a late track. */
  readonly cut: ClockRange
  /** How to divide it if it is too long; null without a bound. */
  readonly chunks: ChunkLengths | null
  /** `leave`: one of several channels, in which perhaps nobody speaks. It is then not sent. */
  readonly whenSilent: 'send' | 'leave'
}

/** One audio track to replace. */
export interface TrackPlan {
  readonly stream: AudioStreamInfo
  readonly pieces: readonly PiecePlan[]
}

/** True if only parts of a track change: what lies outside them is the original's, sample for sample. */
export function isInParts({ pieces }: TrackPlan, { loudness }: JobSettings['recipe']): boolean {
  return (
    loudness === null &&
    pieces.length > 0 &&
    pieces.every(
      ({ ranges, channels }) =>
        channels.kind !== 'downmix' &&
        ranges.every(({ startSample, endSample }) => startSample > 0 || endSample !== null),
    )
  )
}

export interface PlanTracksOptions {
  /** Maps of the tracks, if they were made to send only what needs it. */
  readonly maps?: VoiceMaps | undefined
  /** Sends each part by itself, even if handles meet: the cache has some of the parts as they were sent before. */
  readonly apart?: boolean | undefined
  /** Cuts of earlier jobs, by the index of their audio track. Parts that are one of them are not joined with others. */
  readonly sentBefore?: SentCuts | undefined
}

/** Cuts that were sent, by the index of their audio track. */
export type SentCuts = ReadonlyMap<number, readonly SampleRange[]>

/**
 * Decides which tracks, channels and parts become voice files. A track of which nothing is sent has no pieces.
 *
 * @throws {UsageError} if the settings name a missing track, channel or segment
 */
export function planTracks(
  media: MediaInfo,
  settings: JobSettings,
  limits: Limits,
  { maps, apart = false, sentBefore }: PlanTracksOptions = {},
): readonly TrackPlan[] {
  const { recipe, segments, previewSec } = settings
  return selectTracks(media, recipe.track).map((stream) => {
    const { sampleRate } = stream
    const fileEnd = media.durationSec === null ? null : Math.round(media.durationSec * sampleRate)
    const wanted = planSegments(media, segments, sampleRate)
    const endSec = statedEndSec(media, stream)
    if (endSec !== null) requireSound(media, stream, wanted, endSec)
    const asked = previewSec === null ? wanted : previewRanges(wanted, Math.round(previewSec * sampleRate), fileEnd)
    const ranges = rangesToSend(asked, settings, maps?.get(stream.audioIndex), sampleRate)
    const handleSamples = Math.round(recipe.segments.handleSec * sampleRate)
    const parts = ranges.map((range) => ({
      ranges: [range],
      cut: openAtEnd(withHandles(range, handleSamples), fileEnd),
    }))
    const before = (sentBefore?.get(stream.audioIndex) ?? []).map((cut) => openAtEnd(cut, fileEnd))
    const sent = apart ? parts : joinMeeting(parts, before)
    const pieces = pickChannels(media, stream, recipe.channels).flatMap((channels) =>
      sent.map(({ ranges, cut }) => ({
        audioIndex: stream.audioIndex,
        channels,
        ranges,
        cut,
        chunks: chunkLengths(settings, limits, { stream, channels: pickedChannels(channels, stream) }),
        whenSilent: recipe.channels === 'each' ? ('leave' as const) : ('send' as const),
      })),
    )
    return { stream, pieces }
  })
}

/**
 * Refuses parts before the first packet of a track and behind its last one, which are silence. Headers can state more.
 *
 * @param media with the facts of the packets that the plan has read
 * @throws {UsageError} `ERR_SEGMENT_OUTSIDE`
 */
export function requirePackets(media: MediaInfo, tracks: readonly TrackPlan[]): void {
  for (const { stream, pieces } of tracks) {
    const { packetsEndSec } = audioStreams(media)[stream.audioIndex] ?? stream
    const ranges = pieces.flatMap((piece) => piece.ranges)
    if (packetsEndSec !== null && packetsEndSec !== undefined) requireSound(media, stream, ranges, packetsEndSec)
    requireBegun(media, stream, ranges)
  }
}

/** Sent before the first packet of a late track: its time may be rounded, and a model needs a moment to settle. */
const LATE_LEAD_SEC = 1

/**
 * Leaves out the silence before a late track and behind its end, which would be paid for. Each cut begins shortly before
 * the sound at the earliest. Its end is open if it reaches behind the sound.
 *
 * @param media with the facts of the packets that the plan has read
 */
export function withinSound(media: MediaInfo, tracks: readonly TrackPlan[]): readonly TrackPlan[] {
  return tracks.map(({ stream, pieces }) => {
    const { packetsEndSec } = audioStreams(media)[stream.audioIndex] ?? stream
    const start = Math.floor((soundStartSec(media, stream) - LATE_LEAD_SEC) * stream.sampleRate)
    const endSec = packetsEndSec ?? statedEndSec(media, stream)
    const end = endSec === null ? null : Math.ceil(endSec * stream.sampleRate)
    const soundOf = ({ startSample, endSample }: ClockRange) =>
      openAtEnd({ startSample: Math.max(startSample, start), endSample }, end)
    return { stream, pieces: pieces.map((piece) => ({ ...piece, cut: soundOf(piece.cut) })) }
  })
}

/** The end of a track on the file's clock, by the headers; null if they do not state it. */
export function statedEndSec(media: MediaInfo, { startSec, durationSec }: AudioStreamInfo): number | null {
  return durationSec === null ? null : (startSec ?? media.startSec) - media.startSec + durationSec
}

/** Refuses a part behind the end of a track, which has nothing. @throws {UsageError} `ERR_SEGMENT_OUTSIDE` */
function requireSound(media: MediaInfo, stream: AudioStreamInfo, ranges: readonly ClockRange[], endSec: number): void {
  const beyond = ranges.find(
    ({ startSample }) => startSample > 0 && startSample >= Math.round(endSec * stream.sampleRate),
  )
  if (!beyond) return
  const from = formatTime(beyond.startSample / stream.sampleRate)
  const why = pictureOf(media) ? 'The file has only picture there. ' : ''
  throw new UsageError(
    'ERR_SEGMENT_OUTSIDE',
    `The segment at ${from} begins after the end of audio track ${stream.audioIndex} of ${media.path} (${formatTime(endSec)}).`,
    { input: media.path, remedies: [`${why}Name an earlier part.`] },
  )
}

/** Refuses a part before the start of a track, which has nothing. @throws {UsageError} `ERR_SEGMENT_OUTSIDE` */
function requireBegun(media: MediaInfo, stream: AudioStreamInfo, ranges: readonly ClockRange[]): void {
  const startSec = soundStartSec(media, stream)
  const before = ranges.find(({ endSample }) => endSample !== null && endSample <= startSec * stream.sampleRate)
  if (!before) return
  const from = formatTime(before.startSample / stream.sampleRate)
  throw new UsageError(
    'ERR_SEGMENT_OUTSIDE',
    `The segment at ${from} ends before the sound of audio track ${stream.audioIndex} of ${media.path} begins (${formatTime(startSec)}).`,
    { input: media.path, remedies: ['Name a later part with --segment.'] },
  )
}

/** The start of a track on the file's clock, by its packets if they were read. */
function soundStartSec(media: MediaInfo, stream: AudioStreamInfo): number {
  const { packetsStartSec } = audioStreams(media)[stream.audioIndex] ?? stream
  return packetsStartSec ?? (stream.startSec ?? media.startSec) - media.startSec
}

/** Opens a cut that reaches an end, because silence after it would be paid for. */
function openAtEnd(range: ClockRange, end: number | null): ClockRange {
  const reachesEnd = end !== null && range.endSample !== null && range.endSample >= end
  return reachesEnd ? { ...range, endSample: null } : range
}

/** Seconds of a piece as sent; null if the file does not state its length or its sample rate. */
export function pieceSec(media: MediaInfo, stream: AudioStreamInfo, { cut }: PiecePlan): number | null {
  const { sampleRate } = stream
  const fileEnd = media.durationSec === null ? null : Math.round(media.durationSec * sampleRate)
  const end = cut.endSample === null ? fileEnd : Math.min(cut.endSample, fileEnd ?? cut.endSample)
  return end === null || sampleRate === 0 ? null : Math.max(0, end - cut.startSample) / sampleRate
}

/** The ranges to replace in a track, each once: several channels have the same. */
export function trackRanges({ pieces }: TrackPlan): readonly ClockRange[] {
  const ranges = pieces.flatMap((piece) => piece.ranges)
  return [...new Map(ranges.map((range) => [range.startSample, range])).values()]
}

/** Seconds of the file that change on any track. Null if its length is unknown, or nothing changes. */
export function plannedSec({ media, tracks }: { readonly media: MediaInfo; readonly tracks: readonly TrackPlan[] }) {
  const track = tracks.find(({ pieces }) => pieces.length > 0)
  if (!track) return null
  const lengths = trackRanges(track).map(({ startSample, endSample }) =>
    endSample === null
      ? (media.durationSec ?? Number.NaN) - startSample / track.stream.sampleRate
      : (endSample - startSample) / track.stream.sampleRate,
  )
  const sec = lengths.reduce((sum, length) => sum + length, 0)
  return Number.isFinite(sec) && sec > 0 ? sec : null
}

/**
 * Selects the audio tracks to regenerate.
 *
 * `only` selects every track, as `all` does. The pre-check decides if several are too many. Both pass over tracks that a
 * broadcast announces and never sends, unless there are no others.
 *
 * @throws {UsageError} `ERR_TRACK_MISSING` if the choice matches none
 */
function selectTracks(media: MediaInfo, choice: TrackChoice): readonly AudioStreamInfo[] {
  const tracks = audioStreams(media)
  if (choice === 'all' || choice === 'only' || tracks.length === 0) {
    const described = tracks.filter((track) => !isUndescribed(track))
    return described.length > 0 ? described : tracks
  }
  const chosen = pick(tracks, choice)
  if (chosen) return [chosen]
  throw new UsageError('ERR_TRACK_MISSING', `${media.path} has no audio track "${choice}".`, {
    input: media.path,
    remedies: [`Choose one of its audio tracks: ${describeTracks(tracks.map(subjectTrack))}.`],
  })
}

function pick(tracks: readonly AudioStreamInfo[], choice: TrackChoice): AudioStreamInfo | undefined {
  if (typeof choice === 'number') return tracks[choice]
  if (choice === 'default') return tracks.find((track) => track.dispositions.includes('default')) ?? tracks[0]
  const language = choice.replace(/^lang:/, '').toLowerCase()
  return tracks.find((track) => track.language?.toLowerCase() === language)
}

/**
 * The ranges that `--preview` regenerates: the first `sampleCount` samples of the wanted ones together. One that reaches
 * the end of the file stays open.
 */
export function previewRanges(
  ranges: readonly ClockRange[],
  sampleCount: number,
  fileEnd: number | null,
): ClockRange[] {
  const kept: ClockRange[] = []
  let left = sampleCount
  for (const { startSample, endSample } of ranges) {
    if (left <= 0) break
    const length = endSample === null ? left : Math.min(left, endSample - startSample)
    const isToEnd = endSample === null && fileEnd !== null && startSample + length >= fileEnd
    kept.push({ startSample, endSample: isToEnd ? null : startSample + length })
    left -= length
  }
  return kept
}
