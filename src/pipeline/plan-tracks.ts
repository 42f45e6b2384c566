import { UsageError } from '../core/errors.js'
import { formatTime } from '../core/time.js'
import type { AudioStreamInfo, MediaInfo } from '../media/media-info.js'
import type { ChannelPick } from '../media/voice-cut.js'
import type { Limits } from '../precheck/index.js'
import { type ChunkLengths, chunkLengths } from './chunk-lengths.js'
import type { JobSettings } from './job-settings.js'
import { pickChannels, pickedChannels } from './pick-channels.js'
import { firstSamples, type OpenRange, planSegments, withHandles } from './segments.js'
import { selectTracks } from './select-tracks.js'

/** One voice file that is going to be sent. */
export interface PiecePlan {
  readonly audioIndex: number
  readonly channels: ChannelPick
  /** What is replaced in the track. */
  readonly range: OpenRange
  /** What is cut and sent: the same with handles. */
  readonly cut: OpenRange
  /** How it is divided where it is too long; null where nothing bounds it. */
  readonly chunks: ChunkLengths | null
  /** `leave`: a channel of several that may have nobody speaking in it is not sent then. */
  readonly whenSilent: 'send' | 'leave'
}

/** One audio track that is going to be replaced. */
export interface TrackPlan {
  readonly stream: AudioStreamInfo
  readonly pieces: readonly PiecePlan[]
}

/**
 * Lays out which tracks, channels and parts become voice files.
 *
 * @throws {UsageError} where the settings name a track, channel or segment that is not there
 */
export function planTracks(media: MediaInfo, settings: JobSettings, limits: Limits): readonly TrackPlan[] {
  const { recipe, segments, previewSec } = settings
  return selectTracks(media, recipe.track).map((stream) => {
    const { sampleRate } = stream
    const fileEnd = media.durationSec === null ? null : Math.round(media.durationSec * sampleRate)
    const wanted = planSegments(media, segments, sampleRate)
    requireSound(media, stream, wanted)
    const ranges = previewSec === null ? wanted : firstSamples(wanted, Math.round(previewSec * sampleRate))
    const handleSamples = Math.round(recipe.segments.handleSec * sampleRate)
    const pieces = pickChannels(media, stream, recipe.channels).flatMap((channels) =>
      ranges.map((range) => ({
        audioIndex: stream.audioIndex,
        channels,
        range,
        cut: openAtEnd(withHandles(range, handleSamples), fileEnd),
        chunks: chunkLengths(settings, limits, { stream, channels: pickedChannels(channels, stream) }),
        whenSilent: recipe.channels === 'each' ? ('leave' as const) : ('send' as const),
      })),
    )
    return { stream, pieces }
  })
}

/**
 * Refuses a part that lies behind the end of a track that is shorter than its picture: nothing is there to regenerate.
 *
 * @throws {UsageError} `ERR_SEGMENT_OUTSIDE`
 */
function requireSound(media: MediaInfo, stream: AudioStreamInfo, ranges: readonly OpenRange[]): void {
  if (stream.durationSec === null) return
  const endSec = (stream.startSec ?? media.startSec) - media.startSec + stream.durationSec
  const beyond = ranges.find(
    ({ startSample }) => startSample > 0 && startSample >= Math.round(endSec * stream.sampleRate),
  )
  if (!beyond) return
  const from = formatTime(beyond.startSample / stream.sampleRate)
  throw new UsageError(
    'ERR_SEGMENT_OUTSIDE',
    `The segment at ${from} begins after the end of audio track ${stream.audioIndex} of ${media.path} (${formatTime(endSec)}).`,
    { input: media.path, remedies: ['The picture goes on without sound there: name an earlier part.'] },
  )
}

/** A handle ends where the track does, wherever that is: silence behind it would be paid for. */
function openAtEnd(range: OpenRange, fileEnd: number | null): OpenRange {
  const reachesEnd = fileEnd !== null && range.endSample !== null && range.endSample >= fileEnd
  return reachesEnd ? { ...range, endSample: null } : range
}

/** Seconds of a piece as it is sent; null where the file does not say how long it is. */
export function pieceSec(media: MediaInfo, stream: AudioStreamInfo, { cut }: PiecePlan): number | null {
  const { sampleRate } = stream
  const fileEnd = media.durationSec === null ? null : Math.round(media.durationSec * sampleRate)
  const end = cut.endSample === null ? fileEnd : Math.min(cut.endSample, fileEnd ?? cut.endSample)
  return end === null ? null : Math.max(0, end - cut.startSample) / sampleRate
}
