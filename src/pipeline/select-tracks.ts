import { fileErrorInfo } from '../contract/file-error-codes.js'
import { PrecheckError, UsageError, type VoxmuxError } from '../core/errors.js'
import { type AudioStreamInfo, audioStreams, type MediaInfo } from '../media/media-info.js'

/** Which audio tracks are to be regenerated, as typed with `--track`. */
export type TrackChoice = 'only' | 'all' | 'default' | `lang:${string}` | `${number}`

/**
 * Chooses the audio tracks to regenerate.
 *
 * @param choice `only` refuses a file with several; `N` counts audio tracks from 0; `lang:xxx` compares ISO 639 codes
 * @throws {PrecheckError} -18 without audio, -8 with several tracks and `only`
 * @throws {UsageError} `ERR_TRACK_MISSING` where the choice names none, `ERR_TRACK_SYNTAX`
 */
export function selectTracks(media: MediaInfo, choice: string): readonly AudioStreamInfo[] {
  const tracks = audioStreams(media)
  if (tracks.length === 0) throw refusal(media, -18, `${media.path} has no audio stream.`)
  if (choice === 'all') return tracks
  if (choice === 'only') {
    if (tracks.length === 1) return tracks
    throw refusal(
      media,
      -8,
      `${media.path} has ${tracks.length} audio tracks: ${tracks.map(describeTrack).join('; ')}.`,
    )
  }
  const chosen = pick(tracks, choice)
  if (!chosen) throw missing(media, tracks, choice)
  return [chosen]
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

/** `1 English 5.1 aac "Commentary"`: how a person tells tracks apart. */
export function describeTrack(track: AudioStreamInfo): string {
  const parts = [
    String(track.audioIndex),
    track.language ?? 'no language',
    track.channelLayout ?? `${track.channels} channels`,
    track.codec ?? 'unknown codec',
    track.title === null ? '' : `"${track.title}"`,
  ]
  return parts.filter(Boolean).join(' ')
}

function missing(media: MediaInfo, tracks: readonly AudioStreamInfo[], choice: string): VoxmuxError {
  return new UsageError('ERR_TRACK_MISSING', `${media.path} has no audio track "${choice}".`, {
    input: media.path,
    remedies: [`Its audio tracks are: ${tracks.map(describeTrack).join('; ')}.`],
  })
}

function refusal(media: MediaInfo, code: -8 | -18, message: string): VoxmuxError {
  const { name, remedies } = fileErrorInfo(code)
  return new PrecheckError(code === -8 ? 'ERR_MULTI_TRACK' : 'ERR_NO_AUDIO', message, {
    input: media.path,
    errorCode: code,
    errorName: name,
    remedies,
  })
}
