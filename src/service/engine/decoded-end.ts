import { LineReader } from '../../media/ffmpeg/line-reader.js'
import { FILE_CLOCK_INPUT_OPTIONS, fileUrl, type MediaInfo, safeInputOptions, streamFfmpeg } from '../../media/index.js'
import { MOST_AHEAD_SEC } from '../../media/probe/clock-jump.js'
import { fileError } from './file-error.js'

/** Timestamps of sound files jitter by less. A larger step back means parts that were joined without a common clock. */
const MOST_BACK_SEC = 0.1

interface MeasureOptions {
  /** Index among the audio streams (`0:a:N`). */
  readonly audioIndex: number
  /** Decoding stops at this second of the file's clock. */
  readonly mostSec: number
  readonly signal: AbortSignal
}

/**
 * Decodes a track and returns the second of the file's clock at which its last sample ends. Headers are not trusted: a
 * live recording states no length, and a forged header states a wrong one. Keeps no sample and fills no gap.
 *
 * @returns seconds, exact to the sample; slightly more than `mostSec` if the sound goes on after it
 * @throws {JobFailedError} ERR_CLOCK_JUMPS (-2) if the clock jumps; also every error of ffmpeg's runner
 */
export async function decodedEndSec(media: MediaInfo, options: MeasureOptions): Promise<number> {
  const { audioIndex, mostSec, signal } = options
  const { stdout } = streamFfmpeg(
    {
      inputs: [{ url: fileUrl(media.path), options: [...safeInputOptions(media), ...FILE_CLOCK_INPUT_OPTIONS] }],
      outputs: [
        // One line per packet of PCM: its time and its number of samples.
        { url: 'pipe:1', options: ['-map', `0:a:${audioIndex}`, '-c:a', 'pcm_s16le', '-f', 'framecrc'] },
      ],
    },
    { signal, input: media.path },
  )
  const clock = new SoundClock(media)
  const lines = new LineReader((line) => clock.read(line))
  for await (const text of stdout.setEncoding('utf8')) {
    lines.push(String(text))
    // Leaving the loop ends ffmpeg.
    if (clock.endSec > mostSec) break
  }
  return clock.endSec
}

/** Parses the lines of ffmpeg's `framecrc`: `#tb 0: 1/48000`, then `stream, dts, pts, duration, size, checksum`. */
class SoundClock {
  readonly #media: MediaInfo
  #secPerTick = 0
  endSec = 0

  constructor(media: MediaInfo) {
    this.#media = media
  }

  read(line: string): void {
    const [, numerator, denominator] = /^#tb 0: (\d+)\/(\d+)/.exec(line) ?? []
    if (denominator !== undefined) this.#secPerTick = Number(numerator) / Number(denominator)
    const [, pts, duration] = /^0,\s*-?\d+,\s*(-?\d+),\s*(\d+),/.exec(line) ?? []
    if (duration !== undefined) this.#take(Number(pts), Number(duration))
  }

  #take(pts: number, duration: number): void {
    const startSec = pts * this.#secPerTick - this.#media.startSec
    const aheadSec = startSec - this.endSec
    if (aheadSec > MOST_AHEAD_SEC) throw this.#jump(`ahead by ${Math.round(aheadSec)} s`)
    // Packets before zero are the encoder's priming.
    if (startSec > 0 && aheadSec < -MOST_BACK_SEC) throw this.#jump('back')
    this.endSec = Math.max(this.endSec, startSec + duration * this.#secPerTick)
  }

  #jump(where: string): Error {
    const { path } = this.#media
    return fileError(-2, 'ERR_CLOCK_JUMPS', `The clock of ${path} jumps ${where}.`, { input: path })
  }
}
