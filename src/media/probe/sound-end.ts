import { ffprobeLines } from '../ffmpeg/ffprobe.js'
import type { AudioStreamInfo, MediaInfo } from '../media-info.js'
import { isLossless } from './media-info-of.js'

/** Containers whose stated length is that of their last sample, if the codec is lossless. */
const EXACT: ReadonlySet<string> = new Set([
  'wav',
  'w64',
  'aiff',
  'flac',
  'caf',
  'mov',
  'mp4',
  'm4a',
  'au',
  'tta',
  'wv',
])
/** Bare packets without times. ffprobe only estimates their length, and their times after a seek. */
const BARE: ReadonlySet<string> = new Set(['aac', 'loas', 'mp3', 'mp2', 'ac3', 'eac3', 'dts', 'truehd', 'amr'])
/** The last packets lie within this time of the stated end. */
const TAIL_SEC = 10
/** Times of Matroska and FLV are rounded to 1 ms, and the clock of a cut follows jitter up to 1.2 ms. */
const ROUNDING_SEC = 0.003
/** A walk may take this long for each byte, and two minutes besides. */
const MS_PER_BYTE = 1 / 20_000

/**
 * The latest second of the file's clock at which the sound of a track can end. Headers state less than a decoder
 * returns. The last packet of AAC is decoded completely, and transport streams leave out their last packets. The length
 * of bare AAC and MP3 is estimated. The bound is read from the packets, of the last seconds if the container has times.
 *
 * @returns seconds, at most a packet too many; null if nothing states it
 * @throws the typed errors of ffprobe's runner
 */
export async function soundEndSec(
  media: MediaInfo,
  stream: AudioStreamInfo,
  signal: AbortSignal | undefined,
): Promise<number | null> {
  const { container, durationSec } = media
  if (durationSec !== null && EXACT.has(container) && isLossless(stream.codec)) return durationSec
  const ends = new LastPackets(stream)
  if (durationSec !== null && durationSec > TAIL_SEC && !BARE.has(container)) {
    await readPackets(media, stream, ['-read_intervals', `${media.startSec + durationSec - TAIL_SEC}%`], ends, signal)
  }
  // Some tracks end long before their picture.
  if (ends.endSec === null) await readPackets(media, stream, [], ends, signal)
  return ends.endSec === null ? durationSec : ends.endSec - media.startSec + ROUNDING_SEC
}

async function readPackets(
  { path, readOptions = [], sizeBytes }: MediaInfo,
  { audioIndex }: AudioStreamInfo,
  interval: readonly string[],
  ends: LastPackets,
  signal: AbortSignal | undefined,
): Promise<void> {
  const show = ['-select_streams', `a:${audioIndex}`, '-show_entries', 'packet=pts_time,duration_time']
  await ffprobeLines(
    path,
    [...readOptions, ...interval, ...show, '-print_format', 'compact=print_section=0'],
    (line) => ends.take(line),
    { signal, timeoutMs: 120_000 + sizeBytes * MS_PER_BYTE },
  )
}

/** The latest end of packets, each as long as the longest: a last one that states less is decoded completely. */
class LastPackets {
  /** Decoders of Windows Media return what they held back after the last packet. */
  readonly #held: number
  #startSec: number | null = null
  #longestSec = 0

  constructor({ codec }: AudioStreamInfo) {
    this.#held = codec?.startsWith('wma') ? 1 : 0
  }

  take(line: string): void {
    const [, pts, duration] = /^pts_time=([\d.-]+)\|duration_time=([\d.]+|N\/A)/.exec(line) ?? []
    if (pts === undefined) return
    this.#startSec = Math.max(this.#startSec ?? Number(pts), Number(pts))
    this.#longestSec = Math.max(this.#longestSec, Number(duration) || 0)
  }

  get endSec(): number | null {
    return this.#startSec === null ? null : this.#startSec + (1 + this.#held) * this.#longestSec
  }
}
