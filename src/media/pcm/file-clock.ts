import type { FfmpegCommand } from '../ffmpeg/ffmpeg.js'
import { fileUrl, safeInputOptions } from '../ffmpeg/input-safety.js'
import type { AudioStreamInfo, FirstFrames, MediaInfo } from '../media-info.js'
import { hasGuessedTimes, LATE_TIMES, VORBIS_JITTER_SEC } from '../probe/frame-times.js'
import { hasPackedFrames } from '../probe/misread/packed-frames.js'
import { laterFragments } from './later-fragments.js'
import { singleFrames } from './single-frames.js'

/** A part of a track on the file's clock. Without an end, it reaches to the track's end as decoded. */
export interface ClockRange {
  readonly startSample: number
  readonly endSample: number | null
}

/** The same range, counted from a sample. */
export function rangeFrom({ startSample, endSample }: ClockRange, fromSample: number): ClockRange {
  return { startSample: startSample - fromSample, endSample: endSample === null ? null : endSample - fromSample }
}

/**
 * Input options for the filters of the clock, which keep the file's own timestamps. Otherwise ffmpeg shifts each input
 * to zero, and MPEG streams by the first stream that is *used*: late audio alone would come out early. If the format of
 * a track changes midway, ffmpeg would restart the filters, and the sound after it would lose its place.
 */
export const FILE_CLOCK_INPUT_OPTIONS: readonly string[] = ['-copyts', '-reinit_filter', '0']

/**
 * Packets that share a block have no times, and ffmpeg gives such a frame the time of the packet that it reads. With one
 * thread, this is the frame's own packet.
 */
const IN_TURN: readonly string[] = ['-threads:a', '1']

/** A file as an input of the filters of the clock; from its start, unless the clock begins late. */
export function clockedInput(media: MediaInfo, clock?: FileClock): FfmpegCommand['inputs'][number] {
  const options = [...safeInputOptions(media), ...FILE_CLOCK_INPUT_OPTIONS, ...(media.clockErrorSec ? IN_TURN : [])]
  const fromSec = clock?.fromSample ? clock.startSec + clock.fromSample / clock.sampleRate : null
  if (fromSec === null) return { url: fileUrl(media.path), options }
  // Few of these files have an index, and ffmpeg would decode all fragments from the first one on.
  if (media.isFragmented) return { url: laterFragments(media, fromSec), options }
  // ffmpeg would count from its own start, and would trim a second time.
  const late = ['-seek_timestamp', '1', '-noaccurate_seek', '-ss', fromSec.toFixed(6)]
  return { url: fileUrl(media.path), options: [...options, ...late] }
}

/** A file as an input whose sound is decoded: its packets may be others than those of the file. */
export function decodedInput(media: MediaInfo, clock?: FileClock): FfmpegCommand['inputs'][number] {
  return hasPackedFrames(media) ? { ...clockedInput(media), url: singleFrames(media) } : clockedInput(media, clock)
}

/** The facts that define a track's clock. */
export interface FileClock {
  /** Timestamp of the file's zero ({@link MediaInfo.startSec}). */
  readonly startSec: number
  readonly sampleRate: number
  /**
   * Sample at which the reading begins and from which the filters count; default 0. If timestamps jitter, another start
   * moves the sound by up to a millisecond, so all that must fit together is read from the same sample. The first
   * packets after it sound wrong, because they need those before.
   */
  readonly fromSample: number
  /** Largest error of a timestamp that is not a gap. */
  readonly jitterSec: number
  /** Place of the first frames that are read, if their own times are wrong or missing; otherwise null. */
  readonly firstFrames: FirstFrames | null
  /** Samples of silence before the first sound that are made apart. ffmpeg's resampler cannot insert many at once. */
  readonly silentSamples: number
  /** Set if the samples follow each other without a gap, whatever their times say. */
  readonly isContinuous: boolean
  /** Distance in seconds from which a sound that drifts away is stretched; null if it keeps its samples. */
  readonly driftSec: number | null
}

/** Timestamps in files made from Matroska or FLV jitter by a tick of 1 ms. More than that is a gap. */
const JITTER_SEC = 0.0012
/** The same for a clock with longer ticks, such as the fields of a picture. */
const JITTER_TICKS = 1.2
/** A clock with ticks longer than this is not judged by them. */
const LONGEST_TICK_SEC = 0.05
/** Programs that count in ms round some times down and others to the nearest. */
const COARSE_JITTER_SEC = 0.0022
const COARSE = /^(matroska|flv|asf)/
/** The PCM of a DVD has the time of the first frame that begins in a packet. ffmpeg takes it for the packet's own. */
const DVD_PCM_JITTER_SEC = 0.015
/** Only each block of RealMedia has a time. ffmpeg adds up whole milliseconds for its frames, a hundred of 23.2 ms. */
const REAL_JITTER_SEC = 0.05

/** A drift is followed from here on, if the ticks of the clock are shorter. */
const LEAST_DRIFT_SEC = 0.0003

/** Silence before the first sound that the resampler inserts: it keeps all of it in memory, 1 GiB at most. */
const NEAR_START_SEC = 5
/** The facts on a track that its clock needs. */
type ClockedStream = Pick<
  AudioStreamInfo,
  'codec' | 'channels' | 'sampleRate' | 'timeBase' | 'firstFrames' | 'frameJitterSec' | 'followsDrift'
> &
  Partial<Pick<AudioStreamInfo, 'startSec'>>

/** The clock of a track. */
export function fileClock(
  media: Pick<MediaInfo, 'startSec' | 'formatName' | 'clockErrorSec'>,
  stream: ClockedStream,
  fromSample = 0,
): FileClock {
  const { sampleRate, startSec } = stream
  const leadSec = (startSec ?? media.startSec) - media.startSec - NEAR_START_SEC
  return {
    ...{ startSec: media.startSec, sampleRate, fromSample },
    silentSamples: Math.max(0, Math.floor(leadSec * sampleRate) - fromSample),
    jitterSec: jitterSec(media, stream) + (stream.frameJitterSec ?? 0),
    firstFrames: fromSample === 0 ? (stream.firstFrames ?? null) : null,
    isContinuous: hasGuessedTimes(media, stream) || stream.codec === LATE_TIMES || isBare(media, stream),
    driftSec: stream.followsDrift ? Math.max(LEAST_DRIFT_SEC, JITTER_TICKS * tickSec(stream)) : null,
  }
}

/** Bare frames without times. ffmpeg adds up lengths that it rounds down: 44.1 kHz loses a millisecond in 5 s. */
const BARE_FRAMES: ReadonlySet<string> = new Set(['ac3', 'eac3', 'dts'])

/** True for bare frames, and for FLAC without a header: ffmpeg counts its samples as ticks of another clock. */
function isBare({ formatName }: Pick<MediaInfo, 'formatName'>, { timeBase, sampleRate }: ClockedStream): boolean {
  return BARE_FRAMES.has(formatName) || (formatName === 'flac' && timeBase !== `1/${sampleRate}`)
}

function jitterSec(
  { formatName, clockErrorSec = 0 }: Pick<MediaInfo, 'formatName' | 'clockErrorSec'>,
  { codec, timeBase }: Pick<AudioStreamInfo, 'codec' | 'timeBase'>,
): number {
  if (codec === 'vorbis') return VORBIS_JITTER_SEC + clockErrorSec
  if (codec === 'pcm_dvd') return DVD_PCM_JITTER_SEC
  if (formatName === 'rm') return REAL_JITTER_SEC
  if (COARSE.test(formatName)) return COARSE_JITTER_SEC + clockErrorSec
  const tick = tickSec({ timeBase })
  return tick < LONGEST_TICK_SEC ? Math.max(JITTER_SEC, JITTER_TICKS * tick) : JITTER_SEC
}

function tickSec({ timeBase }: Pick<AudioStreamInfo, 'timeBase'>): number {
  const [ticks = 0, perSec = 1] = timeBase.split('/').map(Number)
  return ticks / perSec
}
