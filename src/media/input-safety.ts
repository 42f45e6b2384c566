import type { MediaInfo } from './media-info.js'

/**
 * Demuxers of plain, self-contained files. Playlists and anything else that opens further files or addresses (hls,
 * dash, concat, imf, sdp, image2, …) are left out: a text named clip.mp4 would otherwise open its neighbours.
 */
const PLAIN_DEMUXERS = [
  'mov',
  'matroska',
  'mxf',
  'mpegts',
  'mpeg',
  'avi',
  'flv',
  'asf',
  'wav',
  'w64',
  'aiff',
  'flac',
  'mp3',
  'ogg',
  'ac3',
  'eac3',
  'aac',
  'caf',
  'dts',
  'dv',
  'gxf',
  'au',
  'amr',
  'wv',
  'tta',
  'truehd',
] as const

/**
 * What every input option list begins with, for a file somebody else made. Same options in every command, so that
 * each sees the same streams in the same order.
 *
 * @param file what was found out about it, where something was
 */
export function safeInputOptions(file: Pick<MediaInfo, 'readOptions'> = {}): readonly string[] {
  return [
    ...(file.readOptions ?? []),
    // Nothing but this file: no network, no nested protocol (concat:, crypto:, subfile:).
    '-protocol_whitelist',
    'file,pipe',
    '-format_whitelist',
    PLAIN_DEMUXERS.join(','),
    // Streams that begin late (TS, MPEG-PS) are found too; other containers stop reading as soon as all are known.
    '-probesize',
    '50M',
    '-analyzeduration',
    '20M',
  ]
}

/** A local path as ffmpeg must be given it: `file:` keeps `a:b.mp4`, `-x.mp4` and `pipe:0` from being read as more. */
export function fileUrl(path: string): string {
  return `file:${path}`
}
