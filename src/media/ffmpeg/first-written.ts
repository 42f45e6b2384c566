import { text } from 'node:stream/consumers'
import { type FfmpegCommand, type FfmpegRunOptions, streamFfmpeg } from './ffmpeg.js'

/**
 * Time of the first packet that ffmpeg writes, in seconds; null if it writes none.
 *
 * @param options of the output, which has one stream
 * @throws the typed errors of ffmpeg's runner
 */
export async function firstWrittenSec(
  inputs: FfmpegCommand['inputs'],
  options: readonly string[],
  run: FfmpegRunOptions,
): Promise<number | null> {
  const outputs = [{ url: 'pipe:1', options: [...options, '-f', 'framecrc'] }]
  const lines = await text(streamFfmpeg({ inputs, outputs }, run).stdout)
  // `#tb 0: 1/48000`, then `0, dts, pts, duration, size, crc` per packet.
  const [, numerator, denominator] = /^#tb 0: (\d+)\/(\d+)/m.exec(lines) ?? []
  const [, pts] = /^0,\s*-?\d+,\s*(-?\d+),/m.exec(lines) ?? []
  return pts === undefined ? null : (Number(pts) * Number(numerator)) / Number(denominator)
}
