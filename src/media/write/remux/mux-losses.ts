import type { MediaInfo } from '../../media-info.js'
import type { ContainerProfile } from '../container-profile.js'
import { staleReason } from '../stale-facts.js'

/** Something that the output will lack. */
export interface MuxLoss {
  /** In words for the user. */
  readonly what: string
  /** Index of the stream it belongs to; null for the file as a whole. */
  readonly stream: number | null
  readonly reason: string
}

/** Muxers that write few or no tags for the whole file. */
const WITHOUT_TAGS = new Set(['mpegts', 'vob', 'mxf', 'ac3', 'eac3', 'adts', 'mp2', 'w64', 'au', 'mpeg'])
/** Tags that describe the container: the new container has its own. */
export const WRAPPING_TAGS = new Set(
  [
    'major_brand minor_version compatible_brands encoder encoded_by duration creation_time handler_name vendor_id',
    'timecode reel_name company_name product_name product_version application_platform uid generation_uid',
    'modification_date operational_pattern_ul product_uid toolkit_version material_package_umid',
    'material_package_name file_package_umid file_package_name data_type track_name variant_bitrate service_name',
    'service_provider deviceconformance wmfsdkneeded wmfsdkversion isvbr metadatacreator audiodelay canseektoend',
    'filesize hasaudio hasvideo hasmetadata haskeyframes hascuepoints totalframes datasize software',
    'product_version_num toolkit_version_num',
  ].flatMap((line) => line.split(' ')),
)

const QUICKTIME_CHAPTERS: ReadonlySet<string> = new Set(['mp4', 'mov', 'ipod'])
/** Clocks of chapters are as coarse as milliseconds. */
export const CHAPTER_TOLERANCE_SEC = 0.01
/** The loss of a first chapter that begins later than the file. */
export const LATE_CHAPTER = 'start of the first chapter'

/** Lists the losses of facts that belong to the whole file. */
export function fileLosses(media: MediaInfo, container: string, profile: ContainerProfile): readonly MuxLoss[] {
  return [
    ...(media.chapters.length > 0 && !carriesChapters(media, container, profile)
      ? [{ what: `${media.chapters.length} chapters`, stream: null, reason: `.${container} has no chapters` }]
      : []),
    ...firstChapterLosses(media, container, profile),
    ...tagLosses(media, container, profile),
    ...rotationLosses(media, container),
    ...programLosses(media, container, profile),
  ]
}

/** WAV to WAV keeps its cue points: voxmux copies them, because ffmpeg writes none. */
function carriesChapters(media: MediaInfo, container: string, profile: ContainerProfile): boolean {
  return profile.chapters || (container === 'wav' && media.container === 'wav')
}

/** A text track of QuickTime has no gaps. */
function firstChapterLosses({ chapters }: MediaInfo, container: string, { muxer }: ContainerProfile) {
  if (!QUICKTIME_CHAPTERS.has(muxer) || (chapters[0]?.startSec ?? 0) < CHAPTER_TOLERANCE_SEC) return []
  return [
    { what: LATE_CHAPTER, stream: null, reason: `ffmpeg begins the first chapter of .${container} with the file` },
  ]
}

/** ffmpeg writes all streams into one program. */
function programLosses({ programs = [] }: MediaInfo, container: string, { muxer }: ContainerProfile) {
  if (muxer !== 'mpegts' || programs.length < 2) return []
  const what = `division into ${programs.length} programs`
  return [{ what, stream: null, reason: `ffmpeg writes one program into .${container}` }]
}

function tagLosses(media: MediaInfo, container: string, profile: ContainerProfile): readonly MuxLoss[] {
  if (!WITHOUT_TAGS.has(profile.muxer)) return []
  const names = Object.keys(media.tags).filter(
    (name) => !WRAPPING_TAGS.has(name.toLowerCase()) && staleReason(name) === null,
  )
  if (names.length === 0) return []
  return [{ what: `tags (${names.join(', ')})`, stream: null, reason: `ffmpeg writes no such tags into .${container}` }]
}

/** Only the mp4 family has a display matrix. In other containers a rotated picture is shown unrotated. */
function rotationLosses(media: MediaInfo, container: string): readonly MuxLoss[] {
  if (['mp4', 'mov', 'm4v', '3gp', '3g2'].includes(container)) return []
  return media.streams.flatMap((stream) =>
    stream.kind === 'video' && stream.rotationDeg !== 0
      ? [{ what: `rotation of video stream ${stream.index}`, stream: stream.index, reason: `.${container} keeps none` }]
      : [],
  )
}
