import { UsageError } from '../core/errors.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../media/media-info.js'
import { describeTracks, subjectTrack } from '../precheck/index.js'

/**
 * Chooses the audio tracks to regenerate, as typed with `--track`: `only`, `all`, `default`, `N` (counted from 0 as
 * ffmpeg's `0:a:N`) or `lang:xxx`.
 *
 * `only` answers every track there is: whether several are too many is the pre-check's to say.
 *
 * @throws {UsageError} `ERR_TRACK_MISSING` where the choice names none, `ERR_TRACK_SYNTAX`
 */
export function selectTracks(media: MediaInfo, choice: string): readonly AudioStreamInfo[] {
  const tracks = audioStreams(media)
  if (choice === 'all' || choice === 'only' || tracks.length === 0) return tracks
  const chosen = pick(tracks, choice)
  if (chosen) return [chosen]
  throw new UsageError('ERR_TRACK_MISSING', `${media.path} has no audio track "${choice}".`, {
    input: media.path,
    remedies: [`Its audio tracks are: ${describeTracks(tracks.map(subjectTrack))}.`],
  })
}

function pick(tracks: readonly AudioStreamInfo[], choice: string): AudioStreamInfo | undefined {
  if (choice === 'default') return tracks.find((track) => track.dispositions.includes('default')) ?? tracks[0]
  const language = /^lang:(.+)$/.exec(choice)?.[1]?.toLowerCase()
  if (language) return tracks.find((track) => track.language?.toLowerCase() === language)
  if (/^\d+$/.test(choice)) return tracks[Number(choice)]
  throw new UsageError('ERR_TRACK_SYNTAX', `Cannot read the track "${choice}".`, {
    remedies: ['Use only, all, default, a number counted from 0, or lang:xxx.'],
  })
}
