import {
  isUndescribed,
  type MediaInfo,
  type OtherStreamInfo,
  type StreamInfo,
  type VideoStreamInfo,
} from '../../media-info.js'
import { type ContainerProfile, carriesAudio } from '../container-profile.js'
import { fitsPictures, isBoundToPictures } from './picture-length.js'

/** Fate of a stream that is not replaced. A dropped one is not a loss if the muxer makes it again. */
export type StreamPassage =
  | { readonly fate: 'copied'; readonly reason: null }
  | { readonly fate: 'converted'; readonly codec: string; readonly reason: string }
  | { readonly fate: 'dropped'; readonly reason: string; readonly isLoss: boolean }

const COPY: StreamPassage = { fate: 'copied', reason: null }

/** Decides if the target can carry a stream unchanged, in another codec, or not at all, with the reason. */
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
      // TrueHD in M2TS usually has AC-3 beside it, and ffmpeg lists that track for a file without any.
      if (isUndescribed(stream)) return drop('ffmpeg finds no sound in it')
      if (isBoundToPictures(profile, media) && !fitsPictures(stream, media))
        return drop(`sound in .${container} begins and ends with the pictures`)
      // A codec from the same kind of container fits, even if the table lacks it.
      return media.container === container || (stream.codec !== null && carriesAudio(profile, stream.codec))
        ? COPY
        : drop(`.${container} cannot carry ${stream.codec ?? 'this'} audio`)
    case 'subtitle':
      return subtitlePassage(stream, container, profile)
    case 'attachment':
      return profile.attachments ? COPY : drop(`.${container} has no attachments`)
    case 'data':
      return isChapterTrack(stream, media) && profile.chapters
        ? drop('the muxer writes the chapters again from the chapter list', false)
        : dataPassage(stream, container, profile)
    case 'unknown':
      return drop('ffmpeg does not recognize it')
    default:
      return stream satisfies never
  }
}

function drop(reason: string, isLoss = true): StreamPassage {
  return { fate: 'dropped', reason, isLoss }
}

function videoPassage(
  stream: VideoStreamInfo,
  media: MediaInfo,
  container: string,
  profile: ContainerProfile,
): StreamPassage {
  if (stream.isCover && profile.covers === 'none') return drop(`.${container} cannot carry a cover picture`)
  if (stream.isCover) return stream.width === 0 ? drop('ffmpeg cannot read the size of this cover picture') : COPY
  if (profile.soundOnly) return drop(`.${container} holds only audio`)
  if (media.container === container || profile.videoCodecs === null) return COPY
  return profile.videoCodecs.includes(stream.codec ?? '')
    ? COPY
    : drop(`.${container} cannot carry ${stream.codec ?? 'this'} video`)
}

/** Text subtitle codecs; converting one to another keeps the words. */
const TEXT_SUBTITLES: readonly string[] = ['subrip', 'ass', 'ssa', 'webvtt', 'mov_text', 'text']

function subtitlePassage(stream: OtherStreamInfo, container: string, profile: ContainerProfile): StreamPassage {
  const codec = stream.codec
  if (codec !== null && profile.subtitleCodecs.includes(codec)) return COPY
  const wrapped = profile.subtitleCodecs.find((known) => TEXT_SUBTITLES.includes(known))
  if (codec !== null && wrapped && TEXT_SUBTITLES.includes(codec)) {
    return {
      fate: 'converted',
      codec: wrapped,
      reason: `.${container} carries text subtitles as ${wrapped}, not ${codec}`,
    }
  }
  return drop(`.${container} cannot carry ${codec ?? 'these'} subtitles`)
}

/** QuickTime keeps chapter names in a separate text track; ffprobe lists both. */
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
      if (stream.codecTag === 'tmcd') return drop('the muxer writes the timecode track again', false)
      return drop(`ffmpeg cannot write ${stream.codecTag ?? 'this'} data into .${container}`)
    case 'transport':
      if (stream.codec === 'klv') return COPY
      // It takes the first bytes of a tag for the header of an access unit.
      if (stream.codec === 'timed_id3') return drop('ffmpeg cuts off the first bytes of each tag')
      return drop(`ffmpeg cannot write ${stream.codec ?? 'this'} data into .${container}`)
    default:
      return profile.data satisfies never
  }
}
