import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'

/** How a package is made: `flags` are those of ffmpeg's HLS muxer. */
export interface PackageMaking {
  readonly type: 'fmp4' | 'mpegts'
  readonly durationSec: number
  readonly segmentSec: number
  readonly flags?: string
}

/**
 * Makes a package with ffmpeg: two video renditions, two languages.
 *
 * @returns path of the master playlist
 */
export async function makePackage(
  folder: string,
  { type, durationSec, segmentSec, flags = 'independent_segments' }: PackageMaking,
): Promise<string> {
  await mkdir(folder, { recursive: true })
  const [large, small] = [picture(durationSec, '128x96'), picture(durationSec, '64x48')]
  const segments = type === 'fmp4' ? 'm4s' : 'ts'
  await ffmpeg(
    ...[...large, ...small, ...tone(durationSec, 48_000, 2), ...tone(durationSec, 48_000, 1)],
    ...['-map', '0:v', '-map', '1:v', '-map', '2:a', '-map', '3:a'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '25', '-keyint_min', '25'],
    ...['-c:a', 'aac', '-b:a', '96k'],
    ...['-f', 'hls', '-hls_playlist_type', 'vod', '-hls_time', String(segmentSec), '-hls_segment_type', type],
    ...['-hls_flags', flags, '-master_pl_name', 'master.m3u8'],
    ...[
      '-hls_segment_filename',
      join(folder, flags === 'single_file' ? `%v/part.${segments}` : `%v/part%03d.${segments}`),
      '-hls_fmp4_init_filename',
      'init.mp4',
    ],
    '-var_stream_map',
    'v:0,agroup:sound,name:large v:1,agroup:sound,name:small ' +
      'a:0,agroup:sound,language:eng,default:yes,name:eng a:1,agroup:sound,language:deu,name:deu',
    join(folder, '%v/stream.m3u8'),
  )
  return join(folder, 'master.m3u8')
}

/**
 * Makes a package in which one language is there twice, at 160 and 48 kbit/s, each for a variant of the picture.
 *
 * @param other filter for the sound of the second; default the same sound
 * @returns path of the master playlist; its renditions of sound are `high` and `low`
 */
export async function makeTwoRatePackage(
  folder: string,
  type: PackageMaking['type'],
  other = 'anull',
): Promise<string> {
  await mkdir(folder, { recursive: true })
  await ffmpeg(
    ...[...picture(5, '128x96'), ...picture(5), ...tone(5, 48_000, 1)],
    ...['-filter_complex', `[2:a]asplit[one][two];[two]${other}[other]`],
    ...['-map', '0:v', '-map', '1:v', '-map', '[one]', '-map', '[other]'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '25', '-keyint_min', '25'],
    ...['-c:a', 'aac', '-b:a:0', '160k', '-b:a:1', '48k'],
    ...['-f', 'hls', '-hls_playlist_type', 'vod', '-hls_time', '2', '-hls_segment_type', type],
    ...['-hls_flags', 'independent_segments', '-master_pl_name', 'master.m3u8'],
    ...['-hls_segment_filename', join(folder, `%v/part%03d.${type === 'fmp4' ? 'm4s' : 'ts'}`)],
    ...['-hls_fmp4_init_filename', 'init.mp4', '-var_stream_map'],
    'v:0,agroup:best,name:large v:1,agroup:small,name:small ' +
      'a:0,agroup:best,language:eng,default:yes,name:high a:1,agroup:small,language:eng,default:yes,name:low',
    join(folder, '%v/stream.m3u8'),
  )
  return join(folder, 'master.m3u8')
}
