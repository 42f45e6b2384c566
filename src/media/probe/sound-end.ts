import { ffprobePackets } from '../ffmpeg/ffprobe.js'
import { type AudioStreamInfo, isCover, type MediaInfo } from '../media-info.js'
import { hasGuessedTimes, LONGEST_PACKET_SEC } from './frame-times.js'
import { isLossless } from './media-info-of.js'

/** Containers whose stated length is that of their last sample, if they hold one lossless track alone. */
const EXACT: ReadonlySet<string> = new Set('wav w64 aiff flac caf mov mp4 m4a au tta wv'.split(' '))
/** Bare packets without times. ffprobe only estimates their length, and their times after a seek. */
const BARE: ReadonlySet<string> = new Set(['aac', 'loas', 'mp3', 'mp2', 'ac3', 'eac3', 'dts', 'truehd', 'amr'])
/** The last packets lie within this time of the stated end. */
const TAIL_SEC = 10
/** Times of Matroska and FLV are rounded to 1 ms, and the clock of a cut follows jitter up to 1.2 ms. */
const ROUNDING_SEC = 0.003
/** Times of GXF are rounded to fields of pictures. This is two of them at 50 Hz. */
const GXF_ROUNDING_SEC = 0.04

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
  const isAlone = media.streams.every((own) => own.index === stream.index || isCover(own))
  if (durationSec !== null && isAlone && EXACT.has(container) && isLossless(stream.codec)) return durationSec
  if (hasGuessedTimes(media, stream)) return (await heldSec(media, stream, signal)) ?? durationSec
  // A seek fails in some files, which are read from the start.
  const tail =
    durationSec !== null && durationSec > TAIL_SEC && !BARE.has(container)
      ? await lastPackets(media, stream, durationSec - TAIL_SEC, signal).catch(() => null)
      : null
  // Some tracks end long before their picture.
  const ends = tail?.isCertain ? tail : await lastPackets(media, stream, null, signal)
  const { endSec } = ends
  if (endSec === null) return durationSec
  const end = endSec - media.startSec + (container === 'gxf' ? GXF_ROUNDING_SEC : ROUNDING_SEC)
  return ends.isCertain ? end : Math.max(end, durationSec ?? 0)
}

/**
 * The second of the file's clock at which the last packet of a track begins, for all lengths that headers and packets state.
 * If the times are guessed, the end of packets that follow each other. Reads all of them.
 *
 * @returns null if no packet states a time or a length
 * @throws the typed errors of ffprobe's runner
 */
export async function lastPacketSec(
  media: MediaInfo,
  stream: AudioStreamInfo,
  signal: AbortSignal | undefined,
): Promise<number | null> {
  if (hasGuessedTimes(media, stream)) return heldSec(media, stream, signal)
  const { startSec } = await lastPackets(media, stream, null, signal)
  return startSec === null ? null : startSec - media.startSec
}

/** The end of packets that follow each other without a gap, whatever times they state. Null if they state no lengths. */
async function heldSec(media: MediaInfo, stream: AudioStreamInfo, signal: AbortSignal | undefined) {
  const { sumSec } = await lastPackets(media, stream, null, signal)
  return sumSec === 0 ? null : Math.max(0, (stream.startSec ?? 0) - media.startSec) + sumSec + ROUNDING_SEC
}

/** Reads the packets of a track from a time of the file's clock on; null for all. */
async function lastPackets(
  media: MediaInfo,
  stream: AudioStreamInfo,
  fromSec: number | null,
  signal: AbortSignal | undefined,
): Promise<LastPackets> {
  const ends = new LastPackets(stream)
  const interval = fromSec === null ? [] : ['-read_intervals', `${media.startSec + fromSec}%`]
  const take = (line: string) => ends.take(line)
  await ffprobePackets(media, stream, ['-show_entries', 'packet=pts_time,duration_time', ...interval], take, signal)
  return ends
}

/**
 * The latest end of packets, each as long as the longest: a last one that states less is decoded completely. Packets that
 * state no length last until the next one.
 */
class LastPackets {
  /** Decoders of Windows Media return what they held back after the last packet. */
  readonly #held: number
  #startSec: number | null = null
  #beforeSec: number | null = null
  #longestSec = 0
  #count = 0
  #statedSec = 0
  #longestStatedSec = 0
  #unstated = 0

  constructor({ codec }: AudioStreamInfo) {
    this.#held = codec?.startsWith('wma') ? 1 : 0
  }

  take(line: string): void {
    const [, pts, duration] = /^pts_time=([\d.-]+)\|duration_time=([\d.]+|N\/A)/.exec(line) ?? []
    if (pts === undefined) return
    const startSec = Number(pts)
    const statedSec = Number(duration) <= LONGEST_PACKET_SEC ? Number(duration) : 0
    this.#statedSec += statedSec
    this.#longestStatedSec = Math.max(this.#longestStatedSec, statedSec)
    if (statedSec === 0) this.#unstated++
    const lengthSec = statedSec || startSec - (this.#beforeSec ?? startSec)
    this.#longestSec = Math.max(this.#longestSec, lengthSec)
    this.#startSec = Math.max(this.#startSec ?? startSec, startSec)
    this.#beforeSec = startSec
    this.#count++
  }

  get startSec(): number | null {
    return this.#startSec
  }

  get endSec(): number | null {
    return this.#startSec === null ? null : this.#startSec + (1 + this.#held) * this.#longestSec
  }

  /** The lengths of all packets together; 0 if none states its own. */
  get sumSec(): number {
    return this.#statedSec + (this.#unstated + this.#held) * this.#longestStatedSec
  }

  /** True if a packet before the last one tells how long a packet is. */
  get isCertain(): boolean {
    return this.#count > 1 && this.#longestSec > 0
  }
}
