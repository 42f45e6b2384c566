import type { PrecheckError } from '../../core/errors.js'
import { isFilm, type MediaInfo, type StreamInfo } from '../media-info.js'
import { refusedFile } from '../refused-file.js'

/** No recording begins its sound a day before its pictures. */
const MOST_APART_SEC = 24 * 3600

/**
 * The refusal of a file in which sound or picture begins a day or more after the other. Some writers give one of them
 * the clock of the encoder: GStreamer's ASF begins its pictures after 1000 hours. Undefined for any other file.
 */
export function startsApart(path: string, { streams }: MediaInfo): PrecheckError | undefined {
  const starts = streams
    .filter((stream) => stream.kind === 'audio' || isFilm(stream))
    .flatMap((stream) => (stream.startSec === null ? [] : [{ stream, startSec: stream.startSec }]))
    .sort((a, b) => a.startSec - b.startSec)
  const [first, last] = [starts[0], starts.at(-1)]
  if (!first || !last || last.startSec - first.startSec < MOST_APART_SEC) return undefined
  const bySec = Math.round(last.startSec - first.startSec)
  const message = `${nameOf(last.stream)} of ${path} begins ${bySec} s after ${nameOf(first.stream).toLowerCase()}.`
  return refusedFile(-2, 'ERR_CLOCK_JUMPS', message, {
    input: path,
    remedies: [
      `Give both one clock first, for example with \`ffmpeg -i in -itsoffset -${bySec} -i in -map 0:${first.stream.index} -map 1:${last.stream.index} -c copy out.mkv\`, and check its sync.`,
    ],
  })
}

function nameOf(stream: StreamInfo): string {
  return stream.kind === 'audio' ? `Audio track ${stream.audioIndex}` : `Picture ${stream.index}`
}
