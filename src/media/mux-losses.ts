import type { ContainerProfile } from './container-profile.js'
import type { MediaInfo } from './media-info.js'

/** Something the output will lack. */
export interface MuxLoss {
  /** In a person's words. */
  readonly what: string
  /** Index of the stream it belongs to; null for the file as a whole. */
  readonly stream: number | null
  readonly reason: string
}

/** Muxers that write no, or hardly any, tags of the file. */
const WITHOUT_TAGS = new Set(['mpegts', 'vob', 'mxf', 'ac3', 'eac3', 'adts', 'mp2', 'w64', 'au', 'wv', 'tta', 'mpeg'])
/** Tags that say how the file was wrapped: the new wrapping has its own. */
export const WRAPPING_TAGS = new Set([
  ...['major_brand', 'minor_version', 'compatible_brands', 'encoder', 'encoded_by', 'duration', 'creation_time'],
  ...['handler_name', 'vendor_id', 'timecode', 'reel_name', 'company_name', 'product_name', 'product_version'],
  ...['application_platform', 'uid', 'generation_uid', 'modification_date', 'operational_pattern_ul', 'product_uid'],
  ...['toolkit_version', 'material_package_umid', 'material_package_name', 'file_package_umid', 'file_package_name'],
  ...['data_type', 'track_name', 'variant_bitrate', 'service_name', 'service_provider', 'deviceconformance'],
  ...['wmfsdkneeded', 'wmfsdkversion', 'isvbr', 'metadatacreator', 'audiodelay', 'canseektoend', 'filesize'],
  ...[
    'hasaudio',
    'hasvideo',
    'hasmetadata',
    'haskeyframes',
    'hascuepoints',
    'totalframes',
    'datasize',
    'software',
    'product_version_num',
    'toolkit_version_num',
  ],
])

/** What belongs to the file as a whole and gets lost. */
export function fileLosses(media: MediaInfo, container: string, profile: ContainerProfile): readonly MuxLoss[] {
  return [
    ...(media.chapters.length > 0 && !carriesChapters(media, container, profile)
      ? [{ what: `${media.chapters.length} chapters`, stream: null, reason: `.${container} has no chapters` }]
      : []),
    ...tagLosses(media, container, profile),
    ...rotationLosses(media, container),
  ]
}

/** The cue points of a WAV are copied from one to the other; ffmpeg writes none. */
function carriesChapters(media: MediaInfo, container: string, profile: ContainerProfile): boolean {
  return profile.chapters || (container === 'wav' && media.container === 'wav')
}

function tagLosses(media: MediaInfo, container: string, profile: ContainerProfile): readonly MuxLoss[] {
  if (!WITHOUT_TAGS.has(profile.muxer)) return []
  const names = Object.keys(media.tags).filter((name) => !WRAPPING_TAGS.has(name.toLowerCase()))
  if (names.length === 0) return []
  return [{ what: `tags (${names.join(', ')})`, stream: null, reason: `ffmpeg writes no such tags into .${container}` }]
}

/** The display matrix is a box of the mp4 family; elsewhere a turned picture would lie on its side. */
function rotationLosses(media: MediaInfo, container: string): readonly MuxLoss[] {
  if (['mp4', 'mov', 'm4v', '3gp', '3g2'].includes(container)) return []
  return media.streams.flatMap((stream) =>
    stream.kind === 'video' && stream.rotationDeg !== 0
      ? [{ what: `rotation of video stream ${stream.index}`, stream: stream.index, reason: `.${container} keeps none` }]
      : [],
  )
}
