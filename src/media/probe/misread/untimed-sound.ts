import type { MediaInfo } from '../../media-info.js'
import type { MovieTrack } from '../movie/movie-tracks.js'

/** Sound may lose as much without a refusal. */
const LEAST_UNTIMED_SEC = 0.1

/** Marks the sounds of an mp4 or mov whose index states no times for a part of them. */
export function withUntimedSound(media: MediaInfo, movie: readonly MovieTrack[]): MediaInfo {
  const untimed = new Set(movie.filter(isUntimed).map(({ id }) => id))
  if (untimed.size === 0) return media
  const streams = media.streams.map((stream) =>
    stream.kind === 'audio' && untimed.has(stream.id ?? -1) ? { ...stream, isUntimed: true as const } : stream,
  )
  return { ...media, streams }
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
