import { audioStreams, type MediaInfo } from '../../media-info.js'
import type { MovieTrack } from '../movie/movie-tracks.js'

const AMR_FRAME_SEC = 0.02

/** Marks the tracks of AMR in an mp4 or mov whose samples hold several frames. */
export function withPackedFrames(media: MediaInfo, movie: readonly MovieTrack[]): MediaInfo {
  const packed = new Set(movie.filter(isPacked).map(({ id }) => id))
  const streams = media.streams.map((stream) =>
    stream.kind === 'audio' && /^amr_[nw]b$/.test(stream.codec ?? '') && packed.has(stream.id ?? -1)
      ? { ...stream, packsFrames: true as const }
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
