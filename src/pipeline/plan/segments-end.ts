import type { MediaInfo } from '../../media/media-info.js'
import { hasGuessedTimes } from '../../media/probe/frame-times.js'
import { needsWalk, walkTrack } from '../../media/probe/track-walk.js'
import type { Limits } from '../../precheck/index.js'
import type { JobSettings } from './job-settings.js'
import { planTracks, statedEndSec } from './plan-tracks.js'

/**
 * The time from which on a segment is refused: the first end of a track to regenerate, by its header and its packets.
 * Reads the packets of tracks whose headers do not state it.
 *
 * @returns seconds on the file's clock; null if nothing states it
 * @throws what `planTracks` and `walkTrack` throw
 */
export async function segmentsEndSec(
  media: MediaInfo,
  settings: JobSettings,
  limits: Limits,
  signal: AbortSignal | undefined,
): Promise<number | null> {
  const ends: (number | null)[] = []
  for (const { stream } of planTracks(media, { ...settings, segments: [] }, limits)) {
    ends.push(statedEndSec(media, stream))
    const isTold = needsWalk(media, stream) && !hasGuessedTimes(media, stream)
    if (isTold) ends.push((await walkTrack(media, stream, signal)).endSec)
  }
  const known = ends.filter((end) => end !== null)
  return known.length > 0 ? Math.min(...known) : null
}
