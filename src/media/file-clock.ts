import type { ChannelPick } from './voice-cut.js'

/** A part of a track on the file's clock; without an end, to the track's end as decoded. */
export interface ClockRange {
  readonly startSample: number
  readonly endSample: number | null
}

/**
 * Input options that go with {@link fileClockFilters}: timestamps stay the file's own. Otherwise ffmpeg moves each
 * input to zero, and MPEG streams by the first stream that is *used*: a late sound alone would come out early.
 */
export const FILE_CLOCK_INPUT_OPTIONS: readonly string[] = ['-copyts']

/** What the clock is read from. */
export interface FileClock {
  /** Timestamp of the file's zero ({@link MediaInfo.startSec}). */
  readonly startSec: number
  readonly sampleRate: number
}

/** Timestamps of Matroska, FLV and files made from them jitter by a tick of 1 ms; what is wider is a gap. */
const JITTER_SEC = 0.0012
/** How far before the file's zero the filter begins. */
const RUN_UP_SEC = 1

/**
 * The audio filters that put a decoded track on its file's own clock: sample N is what a player shows at N / rate
 * seconds after the file's zero. Cut and decode share them, so that a voice goes back exactly where it was taken
 * from. Bit-exact for every sample type (`all` and `one`).
 *
 * @param range counted in samples at the track's own rate; omitted: the whole track
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
 * A late start and gaps become silence, what overlaps goes; async=1 fills and trims but never stretches. Below the
 * two thresholds it does nothing, at the start either: so it begins a run-up early, where the wait for the first
 * sample is always wide enough to be filled to the sample.
 */
function clockFilter({ startSec, sampleRate }: FileClock, runUp: number): string {
  const firstPts = Math.round(startSec * sampleRate) - runUp
  return `aresample=async=1:min_comp=${JITTER_SEC}:min_hard_comp=${JITTER_SEC}:first_pts=${firstPts}`
}

/** The filters that take the channels. */
export function channelFilters(channels: ChannelPick): readonly string[] {
  switch (channels.kind) {
    case 'all':
      return []
    case 'one':
      // Moves pointers, computes nothing: `pan` would go through a gain matrix.
      return [`channelmap=map=${channels.channel}:channel_layout=mono`]
    case 'downmix':
      return ['aformat=channel_layouts=stereo']
    default:
      return channels satisfies never
  }
}

/** The filters that take a part of a track on the clock; its end is filled up with silence. */
export function rangeFilters({ startSample, endSample }: ClockRange): readonly string[] {
  if (startSample === 0 && endSample === null) return []
  const end = endSample === null ? '' : `:end_sample=${endSample}`
  return [
    `atrim=start_sample=${startSample}${end}`,
    'asetpts=PTS-STARTPTS',
    // A track that ends inside the part is filled up: every cut has the length that was asked for.
    ...(endSample === null ? [] : [`apad=whole_len=${endSample - startSample}`]),
  ]
}
