import { audioStreams, type MediaInfo } from '../../media-info.js'
import type { MovieTrack } from '../movie/movie-tracks.js'

const AMR_FRAME_SEC = 0.02

/** Sound may lose as much without a refusal. */
const LEAST_UNTIMED_SEC = 0.1

/** Marks the sounds of an mp4 or mov: AMR whose samples hold several frames, and any whose index states too few times. */
export function withMarkedSounds(media: MediaInfo, movie: readonly MovieTrack[]): MediaInfo {
  const isOf = (wanted: (track: MovieTrack) => boolean, { id }: MediaInfo['streams'][number]) =>
    movie.some((track) => track.id === id && wanted(track))
  const streams = media.streams.map((stream) =>
    stream.kind === 'audio'
      ? {
          ...stream,
          ...(/^amr_[nw]b$/.test(stream.codec ?? '') && isOf(isPacked, stream) && { packsFrames: true as const }),
          ...(isOf(isUntimed, stream) && { isUntimed: true as const }),
        }
      : stream,
  )
  return { ...media, streams }
}

/** True if the sound of a file is decoded from other packets than its own. */
export function hasPackedFrames(media: MediaInfo): boolean {
  return audioStreams(media).some(({ packsFrames }) => packsFrames)
}

function isPacked({ handler, runs, ticksPerSec }: MovieTrack): boolean {
  return handler === 'soun' && runs.some(({ ticks }) => ticks > 1.5 * AMR_FRAME_SEC * ticksPerSec)
}

/**
 * True if the durations of a sound's samples end early. ffmpeg gives the rest the last of them. If that is of an
 * incomplete frame, their sound overlaps.
 */
function isUntimed({ handler, runs, sampleCount, ticksPerSec }: MovieTrack): boolean {
  const [first, last] = [runs[0], runs.at(-1)]
  if (handler !== 'soun' || !first || !last) return false
  const untimed = sampleCount - runs.reduce((sum, { count }) => sum + count, 0)
  return untimed * (first.ticks - last.ticks) > LEAST_UNTIMED_SEC * ticksPerSec
}
