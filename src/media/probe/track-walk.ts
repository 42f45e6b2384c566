import { unreadable } from '../ffmpeg/ffmpeg-failure.js'
import { ffprobePackets } from '../ffmpeg/ffprobe.js'
import type { AudioStreamInfo, MediaInfo } from '../media-info.js'
import { refusedFile } from '../refused-file.js'
import { DRIFT_STEP_SEC, DriftTally, frameSecOf, mayDrift } from './clock-drift.js'
import { clockJumps, MOST_AHEAD_SEC } from './clock-jump.js'
import { LONGEST_PACKET_SEC, VORBIS_JITTER_SEC } from './frame-times.js'

/** The facts in a track's packets, which its headers may contradict. */
export interface TrackWalk {
  /** Number of packets that ffmpeg reads. */
  readonly packetCount: number
  /** Bits a second over all packets; null if their times do not tell. */
  readonly bitRate: number | null
  /** Seconds that two packets claim both, summed over the track. */
  readonly overlapSec: number
  /** Position of the first such place. */
  readonly firstOverlapSec: number | null
  /** The times of a lossy track move away from its samples. */
  readonly drifts: boolean
  /** They also go back so often that sound would be dropped, unless the whole track is stretched. */
  readonly wobbles: boolean
  /** Start of the first packet on the file's clock, in seconds; null if no packet has a time. */
  readonly startSec: number | null
  /** End of the last packet on the file's clock, in seconds; null if no packet has a time. */
  readonly endSec: number | null
}

/** Rounding of timestamps, and decoders that state a frame too much, stay below this. */
const OVERLAP_TOLERANCE_SEC = 0.1
/** Rounding of a single timestamp. */
const ROUNDING_SEC = 0.002
/** Added to the error of a timestamp: from here on, a step would become silence. */
const ROUNDED_SEC = 0.0002
/** Containers in which each packet has its own time, which two parts that were joined badly share. */
const FREE_CLOCKS: ReadonlySet<string> = new Set(['mkv', 'webm', 'avi', 'flv'])
/** Containers in which the next packet may be at any later time. */
const GAPPY_CLOCKS: ReadonlySet<string> = new Set([...FREE_CLOCKS, 'wmv', 'wma', 'mpg', 'ogg', 'opus'])

/** True if a track must be walked: its clock can overlap itself or jump, or no header states its bit rate. */
export function needsWalk({ container, mayJump }: MediaInfo, { bitRate, codec, channels }: AudioStreamInfo): boolean {
  return (
    GAPPY_CLOCKS.has(container) || mayJump === true || (!codec?.startsWith('pcm_') && (bitRate ?? 0) < 4000 * channels)
  )
}

/**
 * Walks through the packets of a track.
 *
 * @throws PrecheckError ERR_UNREADABLE if it has no packets
 * @throws PrecheckError ERR_CLOCK_OVERLAPS if sound would have to be dropped to play it in time
 * @throws PrecheckError ERR_CLOCK_JUMPS if a gap is too long to fill, or if parts were joined that all begin at zero
 */
export async function walkTrack(
  media: MediaInfo,
  stream: AudioStreamInfo,
  signal: AbortSignal | undefined,
): Promise<TrackWalk> {
  const drift = mayDrift(media, stream) ? new DriftTally(await frameSecOf(media, stream)) : null
  const tally = new PacketTally(jitterSec(media, stream), drift)
  const take = (line: string) => tally.take(line)
  await ffprobePackets(media, stream, ['-show_entries', 'packet=pts_time,duration_time,size'], take, signal)
  if (tally.bytes === 0) {
    throw unreadable(`Audio track ${stream.audioIndex} of ${media.path} holds no sound`, { input: media.path })
  }
  const walk = tally.result(media.startSec)
  const track = `audio track ${stream.audioIndex} of ${media.path}`
  if (tally.aheadSec > MOST_AHEAD_SEC) throw clockJumps(track, media.path, { kind: 'ahead', bySec: tally.aheadSec })
  const isFree = FREE_CLOCKS.has(media.container) || media.mayJump === true
  // Transport streams have a clock beside their packets, and MP4 counts them unless it has fragments.
  if (!isFree && GAPPY_CLOCKS.has(media.container) && tally.backSec > OVERLAP_TOLERANCE_SEC)
    throw clockJumps(track, media.path, { kind: 'back' })
  if (isFree && walk.overlapSec > OVERLAP_TOLERANCE_SEC) {
    const [at, by] = [(walk.firstOverlapSec ?? 0).toFixed(2), walk.overlapSec.toFixed(2)]
    const message = `The clock of ${track} goes back at ${at} s: ${by} s of its sound overlap.`
    throw refusedFile(-2, 'ERR_CLOCK_OVERLAPS', message, {
      input: media.path,
      remedies: [
        'Give its sound one clock first, for example `ffmpeg -i in -map 0 -c copy -c:a flac -af asetpts=STARTPTS+N/SR/TB out.mkv`, and check its sync.',
        'If recordings were joined, regenerate each one separately.',
      ],
    })
  }
  return walk
}

/** Error of a timestamp that is not an overlap, in seconds. */
function jitterSec({ clockErrorSec = 0 }: MediaInfo, { codec }: AudioStreamInfo): number {
  // Packets that share a block add their error to that of the block's own time.
  return (codec === 'vorbis' ? VORBIS_JITTER_SEC : ROUNDING_SEC) + clockErrorSec
}

/** Adds up packets as they come. */
class PacketTally {
  readonly #jitterSec: number
  readonly #drift: DriftTally | null
  bytes = 0
  #packetCount = 0
  #firstSec: number | null = null
  #endSec: number | null = null
  #overlapSec = 0
  #firstOverlapSec: number | null = null
  /** Seconds of the overlaps that stretching evens out. */
  #wobbleSec = 0
  #startSec: number | null = null
  #latestSec: number | null = null
  /** The longest time between the starts of two packets, in seconds. */
  aheadSec = 0
  /** The longest time by which a packet begins before the one in front of it, in seconds. */
  backSec = 0

  /** @param jitterSec error of a timestamp that is not an overlap */
  constructor(jitterSec: number, drift: DriftTally | null) {
    this.#jitterSec = jitterSec
    this.#drift = drift
  }

  take(line: string): void {
    const [, pts, duration, size] = /^pts_time=([\d.-]+|N\/A)\|duration_time=([\d.]+|N\/A)\|size=(\d+)/.exec(line) ?? []
    if (size === undefined) return
    this.bytes += Number(size)
    this.#packetCount += 1
    const startSec = Number(pts)
    if (!Number.isFinite(startSec)) return
    this.#firstSec ??= startSec
    // In an mp4, a packet before a gap lasts as long as the gap, so its end tells nothing.
    this.aheadSec = Math.max(this.aheadSec, startSec - (this.#startSec ?? startSec))
    this.backSec = Math.max(this.backSec, (this.#startSec ?? startSec) - startSec)
    if (this.#startSec !== null) this.#drift?.take(startSec - this.#startSec)
    const length = Number(duration) <= LONGEST_PACKET_SEC ? Number(duration) : Number.NaN
    // FLV states no length: its last packet is taken to last as long as the one before.
    const lengthSec = Number.isFinite(length) ? length : startSec - (this.#startSec ?? startSec)
    this.#latestSec = Math.max(this.#latestSec ?? 0, startSec + lengthSec)
    this.#startSec = startSec
    this.#takeOverlap(startSec, (this.#endSec ?? startSec) - startSec)
    this.#endSec = Math.max(startSec, this.#endSec ?? startSec)
    if (Number.isFinite(length)) this.#endSec = startSec + length
  }

  #takeOverlap(atSec: number, bySec: number): void {
    if (bySec <= this.#jitterSec) return
    if (this.#drift !== null && bySec <= DRIFT_STEP_SEC) {
      this.#wobbleSec += bySec
      return
    }
    this.#overlapSec += bySec
    this.#firstOverlapSec ??= atSec
  }

  /** @param fileStartSec timestamp of the file's zero */
  result(fileStartSec: number): TrackWalk {
    const lengthSec = this.#firstSec === null || this.#endSec === null ? 0 : this.#endSec - this.#firstSec
    return {
      packetCount: this.#packetCount,
      bitRate: lengthSec > 0.5 ? (8 * this.bytes) / lengthSec : null,
      overlapSec: this.#overlapSec,
      firstOverlapSec: this.#firstOverlapSec,
      drifts: this.#drift !== null && this.#drift.widthSec > ROUNDED_SEC + this.#jitterSec,
      wobbles: this.#wobbleSec > OVERLAP_TOLERANCE_SEC,
      startSec: this.#firstSec === null ? null : this.#firstSec - fileStartSec,
      endSec: this.#latestSec === null ? null : this.#latestSec - fileStartSec,
    }
  }
}
