import type { FfmpegCommand } from '../ffmpeg/ffmpeg.js'
import { fileUrl, safeInputOptions } from '../ffmpeg/input-safety.js'
import type { AudioStreamInfo, MediaInfo } from '../media-info.js'
import type { ChannelPick } from '../voice-cut.js'
import { laterFragments } from './later-fragments.js'

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
 * Input options for {@link fileClockFilters}, which keep the file's own timestamps. Otherwise ffmpeg shifts each input
 * to zero, and MPEG streams by the first stream that is *used*: late audio alone would come out early. If the format of
 * a track changes midway, ffmpeg would restart the filters, and the sound after it would lose its place.
 */
export const FILE_CLOCK_INPUT_OPTIONS: readonly string[] = ['-copyts', '-reinit_filter', '0']

/** A file as an input of {@link fileClockFilters}; from its start, unless the clock begins late. */
export function clockedInput(media: MediaInfo, clock?: FileClock): FfmpegCommand['inputs'][number] {
  const options = [...safeInputOptions(media), ...FILE_CLOCK_INPUT_OPTIONS]
  const fromSec = clock?.fromSample ? clock.startSec + clock.fromSample / clock.sampleRate : null
  if (fromSec === null) return { url: fileUrl(media.path), options }
  // Few of these files have an index, and ffmpeg would decode all fragments from the first one on.
  if (media.isFragmented) return { url: laterFragments(media, fromSec), options }
  // ffmpeg would count from its own start, and would trim a second time.
  const late = ['-seek_timestamp', '1', '-noaccurate_seek', '-ss', fromSec.toFixed(6)]
  return { url: fileUrl(media.path), options: [...options, ...late] }
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
}

/** Timestamps in files made from Matroska or FLV jitter by a tick of 1 ms. More than that is a gap. */
const JITTER_SEC = 0.0012
/** Programs that count in ms round some times down and others to the nearest. */
const COARSE_JITTER_SEC = 0.0022
const COARSE = /^(matroska|flv|asf)/
/**
 * ffmpeg states the first short block of Vorbis in Ogg after a long one too late. The error is a quarter of the
 * difference of their sizes: 20 ms at most in files of libvorbis. The samples follow each other without a gap.
 */
const OGG_VORBIS_JITTER_SEC = 0.025

/** The clock of a track. */
export function fileClock(
  { startSec, formatName, clockErrorSec = 0 }: Pick<MediaInfo, 'startSec' | 'formatName' | 'clockErrorSec'>,
  { codec, sampleRate }: Pick<AudioStreamInfo, 'codec' | 'sampleRate'>,
  fromSample = 0,
): FileClock {
  const ownSec = COARSE.test(formatName) ? COARSE_JITTER_SEC : JITTER_SEC
  const jitterSec = formatName === 'ogg' && codec === 'vorbis' ? OGG_VORBIS_JITTER_SEC : ownSec + clockErrorSec
  return { startSec, sampleRate, fromSample, jitterSec }
}

/** Lead of the filter before the file's zero. */
const RUN_UP_SEC = 1

/**
 * The audio filters that place a decoded track on its file's own clock: sample N plays N
 * rate seconds after the file's zero. Cut and decode share them, so that a voice returns to its exact place. They are
 * bit-exact for every sample type (`all` and `one`).
 *
 * @param range in samples at the track's own rate; the whole track by default
 */
export function fileClockFilters(clock: FileClock, channels: ChannelPick, range?: ClockRange): readonly string[] {
  const runUp = Math.ceil(RUN_UP_SEC * clock.sampleRate)
  return [
    clockFilter(clock, runUp),
    `atrim=start_sample=${runUp}`,
    'asetpts=N',
    ...channelFilters(channels),
    ...(range ? rangeFilters(range) : []),
  ]
}

/**
 * Fills a late start and gaps with silence and drops overlaps; async=1 fills and trims but never stretches. Below the
 * two thresholds it does nothing, not even at the start. It therefore begins early by a run-up, so that the gap before
 * the first sample is wide enough to be filled exactly.
 */
function clockFilter({ startSec, sampleRate, fromSample, jitterSec }: FileClock, runUp: number): string {
  const firstPts = Math.round(startSec * sampleRate) + fromSample - runUp
  return `aresample=async=1:min_comp=${jitterSec}:min_hard_comp=${jitterSec}:first_pts=${firstPts}`
}

/** The filters that pick channels. */
export function channelFilters(channels: ChannelPick): readonly string[] {
  switch (channels.kind) {
    case 'all':
      return []
    case 'one':
      // `channelmap` only moves pointers. `pan` would use a gain matrix.
      return [`channelmap=map=${channels.channel}:channel_layout=mono`]
    case 'downmix':
      return ['aformat=channel_layouts=stereo']
    default:
      return channels satisfies never
  }
}

/** The filters that take a part of a track on the clock. Missing samples at its end become silence. */
export function rangeFilters({ startSample, endSample }: ClockRange): readonly string[] {
  if (startSample === 0 && endSample === null) return []
  const end = endSample === null ? '' : `:end_sample=${endSample}`
  return [
    `atrim=start_sample=${startSample}${end}`,
    'asetpts=PTS-STARTPTS',
    // Pads a track that ends inside the part, so that every cut has the requested length.
    ...(endSample === null ? [] : [`apad=whole_len=${endSample - startSample}`]),
  ]
}
