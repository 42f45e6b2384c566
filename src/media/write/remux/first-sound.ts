import { type AudioStreamInfo, isFilm, lateSecOf, type MediaInfo } from '../../media-info.js'
import { windowsMediaFrame } from '../../probe/frame-times.js'
import type { MuxLoss } from './mux-losses.js'
import type { NewStream, PlannedStreams } from './plan-streams.js'

const WINDOWS_MEDIA = /^wma/
/** The priming of ffmpeg's encoder, and a frame more that its decoder leaves out. */
const LEFT_OUT_FRAMES = 2
/** Times of Windows Media are rounded to milliseconds. */
const LEAST_LOST_SEC = 0.003

/**
 * Seconds before zero that an output leaves out. Matroska places the priming of an Opus encoder there, which players skip.
 * Only a picture, and Matroska itself, keep that clock.
 */
export function earlyPrimingSec({ media, container, profile, streams }: PlannedStreams): number {
  const hasPicture = streams.some(({ fate, input }) => fate !== 'dropped' && isFilm(input))
  if (media.container === container || profile.priming === 'measured' || hasPicture) return 0
  return Math.max(0, 0 - media.startSec)
}

/** The sound at the start that Windows Media cannot hold. Other codecs replace a few milliseconds by their priming. */
export function firstSoundLosses(media: MediaInfo, voices: readonly NewStream[]): readonly MuxLoss[] {
  return voices.flatMap(({ encoding, input }) => {
    if (!WINDOWS_MEDIA.test(encoding.codec)) return []
    const lostSec = WINDOWS_MEDIA.test(input.codec ?? '') ? lostOfOwnSec(media, input) : lostOfOtherSec(media, input)
    if (lostSec < LEAST_LOST_SEC) return []
    const what = `first ${lostSec.toFixed(3)} s of sound of audio track ${input.audioIndex}`
    return [{ what, stream: input.index, reason: 'WMA begins with the priming of its encoder' }]
  })
}

/** The loss of sound in another codec. A late track has its priming before it, but not the frame that the decoder leaves out. */
function lostOfOtherSec(media: MediaInfo, input: AudioStreamInfo): number {
  return Math.max(frameSec(input), LEFT_OUT_FRAMES * frameSec(input) - lateSecOf(media, input))
}

/** Windows Media by programs of Microsoft has sound that begins within the priming of ffmpeg's encoder. */
function lostOfOwnSec(media: MediaInfo, input: AudioStreamInfo): number {
  const leftOutSec = LEFT_OUT_FRAMES * frameSec(input)
  return leftOutSec - ((input.firstFrames?.startSec ?? media.startSec + leftOutSec) - media.startSec)
}

function frameSec({ sampleRate }: AudioStreamInfo): number {
  return windowsMediaFrame(sampleRate) / sampleRate
}
