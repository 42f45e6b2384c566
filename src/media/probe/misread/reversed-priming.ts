import { audioStreams, type MediaInfo } from '../../media-info.js'
import type { MovieTrack } from '../movie/movie-tracks.js'

/**
 * Keeps the start of Opus whose pre-skip has its bytes in reverse. GStreamer 1.22 writes it so, and ffmpeg then drops 14,337
 * samples instead of 312. Told not to skip, ffmpeg decodes the priming as well.
 */
export function withReversedPriming(media: MediaInfo, movie: readonly MovieTrack[]): MediaInfo {
  const sounds = audioStreams(media)
  const isReversed = sounds.every(({ id }) => movie.some((track) => track.id === id && track.hasReversedPriming))
  return sounds.length > 0 && isReversed ? { ...media, decoderOptions: ['-flags2', '+skip_manual'] } : media
}
