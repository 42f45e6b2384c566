import { asMp4, inLanguages, mirrored, withNamedKlv, withProductionChunks } from './zoo-bytes.js'
import {
  bluray,
  commented,
  cover,
  everySound,
  film,
  font,
  HDR,
  jumpy,
  onlySound,
  stereo,
  subtitles,
  tagged,
  telemetry,
} from './zoo-parts.js'

/** What a file has beside the voice, and must still have afterwards. */
export type Feature =
  | 'picture'
  | 'picture times'
  | 'other sound'
  | 'subtitles'
  | 'attachments'
  | 'cover'
  | 'timecode'
  | 'telemetry'
  | 'chapters'
  | 'tags'
  | 'order'
  | 'languages'
  | 'titles'
  | 'stream tags'
  | 'dispositions'
  | 'rotation'
  | 'colour'
  | 'HDR'
  | 'pixel shape'
  | 'start time'
  | 'faststart'
  | 'bext'
  | 'production chunks'

/** A file of the zoo: made by ffmpeg in tiny form. */
export interface ZooRow {
  readonly container: string
  readonly name: string
  /** Arguments of ffmpeg before the name of the file that is made. */
  readonly args: readonly string[]
  /** What ffmpeg cannot write, done to its file. */
  readonly finish?: (made: Buffer) => Buffer
  readonly keeps: readonly Feature[]
  /** Samples at 48 kHz by which the new sound may lie beside its place: 0 where it is lossless. */
  readonly offsetSamples: number
  /** Only in `npm run soak`. */
  readonly soak?: true
}

const LOSSY = 48
const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '2']
const FILM: readonly Feature[] = ['picture', 'picture times', 'other sound', 'start time', 'order', 'dispositions']
const NAMED: readonly Feature[] = ['languages', 'titles']
const BT709 = ['-color_primaries', 'bt709', '-color_trc', 'bt709', '-colorspace', 'bt709', '-color_range', 'tv']
/** Every container of the house, each with what it can hold. */
export const ZOO: readonly ZooRow[] = [
  {
    ...{ container: 'mp4', name: 'film.mp4', offsetSamples: LOSSY },
    args: [
      ...[...everySound(subtitles, tagged), ...x264, ...BT709, '-aspect', '8:5', '-c:a', 'aac', '-c:s', 'mov_text'],
      ...['-movflags', '+faststart'],
    ],
    keeps: [...FILM, ...NAMED, 'subtitles', 'chapters', 'tags', 'faststart', 'colour', 'pixel shape'],
  },
  {
    ...{ container: 'mp4', name: 'cover.mp4', offsetSamples: LOSSY, soak: true },
    args: [...everySound(cover), ...x264, '-c:a', 'aac', '-c:v:1', 'copy', '-disposition:v:1', 'attached_pic'],
    keeps: [...FILM, 'cover'],
  },
  {
    ...{ container: 'mp4', name: 'turned.mp4', offsetSamples: LOSSY, soak: true },
    args: [...everySound(), ...x264, '-c:a', 'aac', '-metadata:s:v:0', 'rotate=90'],
    keeps: [...FILM, 'rotation'],
  },
  {
    ...{ container: 'mp4', name: 'hdr.mp4', offsetSamples: LOSSY, soak: true },
    args: [...everySound(), ...HDR, '-tag:v', 'hvc1', '-c:a', 'aac'],
    keeps: [...FILM, 'colour', 'HDR'],
  },
  {
    ...{ container: 'mp4', name: 'action.mp4', offsetSamples: LOSSY },
    args: [...everySound(telemetry), ...x264, '-c:a', 'aac', '-c:d', 'copy', '-tag:d', 'gpmd', '-f', 'mov'],
    finish: asMp4,
    keeps: [...FILM, 'telemetry'],
  },
  {
    // Pictures at their own times, the first of them late, the sound before them; a phone writes such files.
    ...{ container: 'mp4', name: 'phone.mp4', offsetSamples: LOSSY },
    args: [...everySound(), '-vf', jumpy, '-fps_mode', 'passthrough', ...x264, '-c:a', 'aac'],
    keeps: FILM,
  },
  {
    ...{ container: 'mp4', name: 'late-sound.mp4', offsetSamples: LOSSY, soak: true },
    args: [...film, '-itsoffset', '0.48', ...stereo, '-map', '0', '-map', '1', '-map', '1', ...x264, '-c:a', 'aac'],
    keeps: FILM,
  },
  {
    ...{ container: 'm4v', name: 'film.m4v', offsetSamples: LOSSY, soak: true },
    args: [...everySound(tagged), ...x264, '-c:a', 'aac', '-f', 'ipod', '-brand', 'M4V '],
    keeps: [...FILM, ...NAMED, 'chapters', 'tags'],
  },
  {
    ...{ container: 'mov', name: 'master.mov', offsetSamples: 0 },
    args: [
      ...[...everySound(subtitles, tagged), '-c:v', 'mjpeg', '-c:a', 'pcm_s24le', '-c:s', 'mov_text'],
      ...['-timecode', '10:00:00:00', '-aspect', '8:5'],
    ],
    keeps: [...FILM, ...NAMED, 'subtitles', 'timecode', 'chapters', 'tags', 'pixel shape'],
  },
  {
    ...{ container: 'mov', name: 'mirrored.mov', offsetSamples: 0, soak: true },
    args: [...everySound(), ...x264, ...BT709, '-c:a', 'pcm_s16le'],
    // Languages that the list of the Macintosh, which ffmpeg writes, does not have.
    finish: (made) => inLanguages(mirrored(made), ['swe', 'hrv', 'gsw']),
    keeps: [...FILM, ...NAMED, 'rotation', 'colour'],
  },
  {
    ...{ container: 'mov', name: 'action.mov', offsetSamples: 0, soak: true },
    args: [...everySound(telemetry), ...x264, '-c:a', 'pcm_s16le', '-c:d', 'copy', '-tag:d', 'gpmd'],
    keeps: [...FILM, 'telemetry'],
  },
  {
    // The sound first, and cut in: the first 0.32 s of all lie before zero.
    ...{ container: 'mov', name: 'cut-in.mov', offsetSamples: 0 },
    args: [
      ...[...stereo, ...film, '-map', '0', '-map', '1', '-map', '0', '-c:v', 'mjpeg', '-c:a', 'pcm_s16le'],
      ...['-output_ts_offset', '-0.32', '-avoid_negative_ts', 'disabled'],
    ],
    keeps: FILM,
  },
  {
    ...{ container: 'mkv', name: 'film.mkv', offsetSamples: 0 },
    args: [
      ...[...everySound(subtitles, tagged), ...x264, ...BT709, '-c:a', 'flac', '-c:s', 'ass'],
      ...[...font, '-disposition:s:0', 'forced', '-aspect', '8:5'],
    ],
    keeps: [...FILM, ...NAMED, 'subtitles', 'chapters', 'tags', 'attachments', 'cover', 'colour', 'pixel shape'],
  },
  {
    ...{ container: 'mkv', name: 'disc.mkv', offsetSamples: LOSSY, soak: true },
    args: [
      ...[...everySound(bluray, bluray, bluray), ...x264, '-c:a', 'ac3', '-c:s', 'copy'],
      ...['-c:s:1', 'dvbsub', '-c:s:2', 'dvdsub', '-metadata:s:a:0', 'SOURCE=reel 4', '-metadata:s:s:0', 'NOTE=signs'],
      ...['-disposition:a:0', 'default+original', '-disposition:a:1', 'comment+visual_impaired'],
      ...['-disposition:s:0', 'forced+hearing_impaired', '-disposition:s:1', '0', '-disposition:s:2', '0'],
    ],
    keeps: [...FILM, ...NAMED, 'subtitles', 'stream tags'],
  },
  {
    // Packets that overlap from the middle on, and pictures at their own times.
    ...{ container: 'mkv', name: 'overlapping.mkv', offsetSamples: 0 },
    args: [
      ...[...everySound(), '-vf', jumpy, '-fps_mode', 'passthrough', ...x264, '-c:a', 'pcm_s16le'],
      ...[
        '-bsf:a:0',
        String.raw`setts=pts=PTS-if(gt(PTS*TB\,0.7)\,0.03/TB\,0):dts=DTS-if(gt(DTS*TB\,0.7)\,0.03/TB\,0)`,
      ],
    ],
    keeps: FILM,
  },
  {
    ...{ container: 'mkv', name: 'hdr.mkv', offsetSamples: 0, soak: true },
    args: [...everySound(), ...HDR, '-c:a', 'flac'],
    keeps: [...FILM, 'colour', 'HDR'],
  },
  {
    ...{ container: 'mkv', name: 'late.mkv', offsetSamples: LOSSY, soak: true },
    args: [...everySound(), ...x264, '-c:a', 'aac', '-output_ts_offset', '7.3'],
    keeps: FILM,
  },
  {
    ...{ container: 'webm', name: 'film.webm', offsetSamples: LOSSY },
    args: [...everySound(tagged), '-c:v', 'libvpx', ...BT709, '-c:a', 'libopus'],
    keeps: [...FILM, ...NAMED, 'chapters', 'tags', 'colour'],
  },
  {
    ...{ container: 'mxf', name: 'master.mxf', offsetSamples: 0 },
    args: [...everySound(), '-c:v', 'mpeg2video', '-c:a', 'pcm_s24le', '-timecode', '10:00:00:00'],
    keeps: ['picture', 'picture times', 'other sound', 'start time', 'timecode'],
  },
  {
    ...{ container: 'ts', name: 'air.ts', offsetSamples: LOSSY },
    args: [...everySound(), ...x264, '-c:a', 'aac'],
    keeps: [...FILM, 'languages'],
  },
  {
    ...{ container: 'ts', name: 'late.ts', offsetSamples: LOSSY, soak: true },
    args: [...everySound(bluray), ...x264, '-c:a', 'mp2', '-c:s', 'dvbsub', '-output_ts_offset', '3600'],
    keeps: [...FILM, 'languages', 'subtitles'],
  },
  {
    // The clock of 33 bits starts anew in the middle, as it does after 26.5 hours on air.
    ...{ container: 'ts', name: 'wrapped.ts', offsetSamples: LOSSY },
    args: [...everySound(), '-c:v', 'mpeg2video', '-c:a', 'mp2', '-output_ts_offset', '95441.7'],
    // The new file's clock begins at zero: no muxer writes the negative times that ffmpeg reads here.
    keeps: ['picture', 'picture times', 'other sound', 'order', 'languages'],
  },
  {
    ...{ container: 'ts', name: 'drone.ts', offsetSamples: LOSSY, soak: true },
    args: [...everySound(telemetry), '-c:v', 'mpeg2video', '-c:a', 'mp2', '-c:d', 'copy'],
    finish: withNamedKlv,
    keeps: [...FILM, 'languages', 'telemetry'],
  },
  {
    ...{ container: 'm2ts', name: 'disc.m2ts', offsetSamples: LOSSY, soak: true },
    args: [...everySound(), '-c:v', 'mpeg2video', '-c:a', 'ac3', '-mpegts_m2ts_mode', '1'],
    keeps: [...FILM, 'languages'],
  },
  {
    ...{ container: 'avi', name: 'old.avi', offsetSamples: LOSSY },
    args: [...everySound(tagged), '-c:v', 'mpeg4', '-c:a', 'libmp3lame'],
    keeps: ['picture', 'picture times', 'other sound', 'start time', 'tags'],
  },
  {
    ...{ container: 'flv', name: 'stream.flv', offsetSamples: LOSSY },
    args: [...film, ...stereo, '-c:v', 'flv1', '-c:a', 'aac', '-metadata', 'title=Zoo'],
    keeps: ['picture', 'picture times', 'start time', 'tags'],
  },
  {
    ...{ container: '3gp', name: 'phone.3gp', offsetSamples: LOSSY, soak: true },
    args: [...everySound(), ...x264, '-c:a', 'aac', '-metadata:s:v:0', 'rotate=90'],
    keeps: [...FILM, 'languages', 'rotation'],
  },
  {
    ...{ container: 'mpg', name: 'dvd.mpg', offsetSamples: LOSSY },
    args: [...everySound(), '-c:v', 'mpeg2video', '-bf', '2', '-c:a', 'mp2', '-f', 'vob'],
    keeps: ['picture', 'picture times', 'other sound'],
  },
  {
    ...{ container: 'wmv', name: 'office.wmv', offsetSamples: LOSSY },
    args: [...everySound(tagged), '-c:v', 'wmv2', '-c:a', 'wmav2'],
    keeps: ['picture', 'picture times', 'other sound', 'tags', 'chapters', 'languages'],
  },
  {
    ...{ container: 'wav', name: 'field.wav', offsetSamples: 0 },
    args: [...onlySound(), '-write_bext', '1', '-metadata', 'originator=Zoo', '-metadata', 'time_reference=480000'],
    keeps: ['bext'],
  },
  {
    // Four microphones, each a channel with its name.
    ...{ container: 'wav', name: 'poly.wav', offsetSamples: 0 },
    args: [
      ...[...onlySound(), '-af', 'pan=4.0|c0=c0|c1=c1|c2=0.5*c0|c3=0.5*c1', '-c:a', 'pcm_s24le', '-write_bext', '1'],
      ...['-metadata', 'description=sSCENE=12A', '-metadata', 'originator=Mixer', '-metadata', 'umid=0x0123456789'],
      ...['-metadata', 'origination_date=2026-01-02', '-metadata', 'coding_history=A=PCM,F=48000'],
    ],
    finish: (made) => withProductionChunks(made, ['Boom', 'Anna', 'Ben', 'Plant']),
    keeps: ['bext', 'production chunks'],
  },
  {
    ...{ container: 'wav', name: 'long.wav', offsetSamples: 0, soak: true },
    args: [...onlySound(tagged), '-rf64', 'always', '-c:a', 'pcm_f32le'],
    keeps: ['tags'],
  },
  {
    ...{ container: 'aiff', name: 'sound.aiff', offsetSamples: 0 },
    args: [...onlySound(tagged), '-write_id3v2', '1'],
    keeps: ['tags'],
  },
  {
    ...{ container: 'flac', name: 'sound.flac', offsetSamples: 0 },
    args: [...onlySound(commented, cover), '-disposition:v:0', 'attached_pic', '-c:v', 'copy'],
    keeps: ['tags', 'chapters', 'cover'],
  },
  {
    ...{ container: 'mp3', name: 'sound.mp3', offsetSamples: LOSSY },
    args: [...onlySound(tagged, cover), '-disposition:v:0', 'attached_pic', '-c:v', 'copy'],
    keeps: ['tags', 'chapters', 'cover'],
  },
  {
    ...{ container: 'm4a', name: 'sound.m4a', offsetSamples: LOSSY },
    args: [...onlySound(tagged, cover), '-disposition:v:0', 'attached_pic', '-c:v', 'copy'],
    keeps: ['tags', 'chapters', 'cover'],
  },
  ...(['ogg', 'opus', 'wma'] as const).map(
    (container): ZooRow => ({
      ...{ container, name: `sound.${container}`, offsetSamples: LOSSY },
      args: onlySound(container === 'wma' ? tagged : commented),
      ...(container === 'opus' && { soak: true }),
      keeps: ['tags', 'chapters'],
    }),
  ),
  ...(['ac3', 'eac3'] as const).map(
    (container): ZooRow => ({
      ...{ container, name: `sound.${container}`, offsetSamples: LOSSY, args: onlySound(), keeps: [], soak: true },
    }),
  ),
]
