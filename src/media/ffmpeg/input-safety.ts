import type { MediaInfo } from '../media-info.js'

/**
 * Demuxers of plain, self-contained files. Playlists and other formats that open further files or addresses (hls, dash,
 * concat, imf, sdp, image2, …) are left out. Otherwise a text named clip.mp4 could open its neighbours.
 */
const PLAIN_DEMUXERS = [
  'mov matroska mxf mpegts mpeg avi flv asf wav w64 aiff flac mp3 ogg ac3 eac3 aac caf dts dv gxf au',
  'amr wv tta truehd ape dsf loas mpc mpc8 rm tak voc',
].flatMap((line) => line.split(' '))

/**
 * Input options for an untrusted file. Every command uses the same options, so that each sees the same streams in the
 * same order.
 *
 * @param file facts from an earlier probe, if any
 */
export function safeInputOptions(file: Pick<MediaInfo, 'readOptions' | 'decoderOptions'> = {}): readonly string[] {
  return [
    // Allows only this file: no network, no nested protocol (concat:, crypto:, subfile:).
    '-protocol_whitelist',
    'file,pipe',
    '-format_whitelist',
    PLAIN_DEMUXERS.join(','),
    // Finds streams that begin late (TS, MPEG-PS). In other containers ffmpeg stops reading once all streams are known.
    '-probesize',
    '50M',
    '-analyzeduration',
    '20M',
    // The last of two values counts.
    ...(file.readOptions ?? []),
    ...(file.decoderOptions ?? []),
  ]
}

/** A local path for ffmpeg. `file:` keeps it from interpreting `a:b.mp4`, `-x.mp4` and `pipe:0`. */
export function fileUrl(path: string): string {
  return `file:${path}`
}
