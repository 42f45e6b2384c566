import { UsageError } from '../../core/errors.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../../media/media-info.js'
import type { TrackChoice } from '../../precheck/choices.js'
import { describeTracks, subjectTrack } from '../../precheck/index.js'

/**
 * Selects the audio tracks to regenerate.
 *
 * `only` selects every track. The pre-check decides if several are too many.
 *
 * @throws {UsageError} `ERR_TRACK_MISSING` if the choice matches none
 */
export function selectTracks(media: MediaInfo, choice: TrackChoice): readonly AudioStreamInfo[] {
  const tracks = audioStreams(media)
  if (choice === 'all' || choice === 'only' || tracks.length === 0) return tracks
  const chosen = pick(tracks, choice)
  if (chosen) return [chosen]
  throw new UsageError('ERR_TRACK_MISSING', `${media.path} has no audio track "${choice}".`, {
    input: media.path,
    remedies: [`Its audio tracks are: ${describeTracks(tracks.map(subjectTrack))}.`],
  })
}

function pick(tracks: readonly AudioStreamInfo[], choice: TrackChoice): AudioStreamInfo | undefined {
  if (typeof choice === 'number') return tracks[choice]
  if (choice === 'default') return tracks.find((track) => track.dispositions.includes('default')) ?? tracks[0]
  const language = choice.replace(/^lang:/, '').toLowerCase()
  return tracks.find((track) => track.language?.toLowerCase() === language)
}
