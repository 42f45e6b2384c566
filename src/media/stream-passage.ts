import { type ContainerProfile, carriesAudio } from './container-profile.js'
import type { MediaInfo, OtherStreamInfo, StreamInfo, VideoStreamInfo } from './media-info.js'

/** How a stream that is not replaced gets into the target. */
export type StreamPassage =
  | { readonly kind: 'copy' }
  | { readonly kind: 'convert'; readonly codec: string; readonly reason: string }
  | { readonly kind: 'drop'; readonly reason: string }
  /** Not carried over as a stream: the muxer makes it anew from what it carries. No loss. */
  | { readonly kind: 'remake'; readonly reason: string }

const COPY: StreamPassage = { kind: 'copy' }

/** Whether the target can carry a stream as it is, in another codec, or not at all, and why not. */
export function streamPassage(
  stream: StreamInfo,
  media: MediaInfo,
  container: string,
  profile: ContainerProfile,
): StreamPassage {
  switch (stream.kind) {
    case 'video':
      return videoPassage(stream, media, container, profile)
    case 'audio':
      // What came out of a container goes back into the same kind, whether the table knows it or not.
      return media.container === container || (stream.codec !== null && carriesAudio(profile, stream.codec))
        ? COPY
        : drop(`.${container} cannot carry ${stream.codec ?? 'this'} sound`)
    case 'subtitle':
      return subtitlePassage(stream, container, profile)
    case 'attachment':
      return profile.attachments ? COPY : drop(`.${container} has no attachments`)
    case 'data':
      return isChapterTrack(stream, media) && profile.chapters
        ? { kind: 'remake', reason: 'the chapters are written anew from the list of them' }
        : dataPassage(stream, container, profile)
    case 'unknown':
      return drop('ffmpeg does not know what it is')
    default:
      return stream satisfies never
  }
}

function drop(reason: string): StreamPassage {
  return { kind: 'drop', reason }
}

function videoPassage(
  stream: VideoStreamInfo,
  media: MediaInfo,
  container: string,
  profile: ContainerProfile,
): StreamPassage {
  if (stream.isCover) return profile.covers === 'none' ? drop(`.${container} cannot carry a cover picture`) : COPY
  if (profile.soundOnly) return drop(`.${container} holds sound alone`)
  if (media.container === container || profile.videoCodecs === null) return COPY
  return profile.videoCodecs.includes(stream.codec ?? '')
    ? COPY
    : drop(`.${container} cannot carry ${stream.codec ?? 'this'} video`)
}

/** Text that one container calls subrip is mov_text in another: same words, another wrapping. */
const TEXT_SUBTITLES: readonly string[] = ['subrip', 'ass', 'ssa', 'webvtt', 'mov_text', 'text']

function subtitlePassage(stream: OtherStreamInfo, container: string, profile: ContainerProfile): StreamPassage {
  const codec = stream.codec
  if (codec !== null && profile.subtitleCodecs.includes(codec)) return COPY
  const wrapped = profile.subtitleCodecs.find((known) => TEXT_SUBTITLES.includes(known))
  if (codec !== null && wrapped && TEXT_SUBTITLES.includes(codec)) {
    return {
      kind: 'convert',
      codec: wrapped,
      reason: `.${container} carries text subtitles as ${wrapped}, not ${codec}`,
    }
  }
  return drop(`.${container} cannot carry ${codec ?? 'these'} subtitles`)
}

/** QuickTime keeps chapter names in a text track of its own; ffprobe shows both. */
function isChapterTrack(stream: OtherStreamInfo, media: MediaInfo): boolean {
  return stream.codecTag === 'text' && stream.codec === 'bin_data' && media.chapters.length > 0
}

function dataPassage(stream: OtherStreamInfo, container: string, profile: ContainerProfile): StreamPassage {
  switch (profile.data) {
    case 'none':
      return drop(`.${container} cannot carry data streams`)
    case 'quicktime':
      if (stream.codecTag === 'tmcd' || stream.codecTag === 'gpmd') return COPY
      return drop(`ffmpeg cannot write ${stream.codecTag ?? 'this'} data into .${container}`)
    case 'mp4':
      if (stream.codecTag === 'gpmd') return COPY
      if (stream.codecTag === 'tmcd') return { kind: 'remake', reason: 'the timecode track is written anew' }
      return drop(`ffmpeg cannot write ${stream.codecTag ?? 'this'} data into .${container}`)
    case 'transport':
      return stream.codec === 'klv' || stream.codec === 'timed_id3'
        ? COPY
        : drop(`ffmpeg cannot write ${stream.codec ?? 'this'} data into .${container}`)
    default:
      return profile.data satisfies never
  }
}
