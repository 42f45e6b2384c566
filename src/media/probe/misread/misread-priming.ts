import type { PrecheckError } from '../../../core/errors.js'
import { unreadable } from '../../ffmpeg/ffmpeg-failure.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../../media-info.js'
import { shownEdits } from '../movie/edits.js'
import type { MovieTrack } from '../movie/movie-tracks.js'

/** ffmpeg decodes as much before the first shown sample, and leaves it out. It drops what comes before that at once. */
const READ_BEFORE_SEC = 1

/** Less sound than that is not missed: tracks with a clock of 90 kHz lose 10 ms. */
const MOST_LOST_SEC = 0.1

/**
 * The error for a movie whose priming ffmpeg leaves out for too long. It takes the ticks of an edit list for samples of
 * AAC, which is right if the track counts in samples. It applies no edit list to fragments.
 */
export function misreadPriming(
  path: string,
  media: MediaInfo,
  tracks: readonly MovieTrack[],
): PrecheckError | undefined {
  const lostSec = Math.max(0, ...audioStreams(media).map((stream) => lostSecOf(stream, tracks)))
  if (lostSec < MOST_LOST_SEC) return undefined
  const what = `${path} has priming with which ffmpeg leaves out ${lostSec.toFixed(1)} s of its sound`
  return unreadable(what, {
    input: path,
    remedies: ['Export it again with the sample rate of the sound as the time scale of its track.'],
  })
}

function lostSecOf({ codec, id, sampleRate }: AudioStreamInfo, tracks: readonly MovieTrack[]): number {
  const track = tracks.find((each) => each.id === id && each.runs.length > 0)
  const [first] = shownEdits(track?.edits ?? [])
  if (codec !== 'aac' || !track || !first) return 0
  const leftOut = Math.min(first.mediaTick, READ_BEFORE_SEC * track.ticksPerSec)
  return leftOut / sampleRate - leftOut / track.ticksPerSec
}

/**
 * Keeps the start of Opus whose pre-skip has its bytes in reverse. GStreamer 1.22 writes it so, and ffmpeg then drops 14,337
 * samples instead of 312. Told not to skip, ffmpeg decodes the priming as well.
 */
export function withReversedPriming(media: MediaInfo, movie: readonly MovieTrack[]): MediaInfo {
  const sounds = audioStreams(media)
  const isReversed = sounds.every(({ id }) => movie.some((track) => track.id === id && track.hasReversedPriming))
  return sounds.length > 0 && isReversed ? { ...media, decoderOptions: ['-flags2', '+skip_manual'] } : media
}
