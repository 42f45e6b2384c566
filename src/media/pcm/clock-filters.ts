import { DRIFT_STEP_SEC } from '../probe/clock-drift.js'
import type { ChannelPick } from '../voice-cut.js'
import type { ClockRange, FileClock } from './file-clock.js'
import type { PcmFormat } from './pcm.js'

/** Share by which sound may be stretched. Clocks differ by a thousandth at most. */
const MOST_STRETCH = 1 / 50

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
    ...timeFilters(clock),
    clockFilter(clock, runUp),
    `atrim=start_sample=${runUp}`,
    ...(clock.silentSamples > 0 ? [`adelay=delays=${clock.silentSamples}S:all=1`] : []),
    'asetpts=N',
    ...channelFilters(channels),
    ...(range ? rangeFilters(range) : []),
  ]
}

/** The filters that correct times that ffmpeg states wrongly, and begin behind the silence that is made apart. */
function timeFilters({ isContinuous, firstFrames, silentSamples }: FileClock): readonly string[] {
  const start = firstFrames ? `${firstFrames.startSec.toFixed(6)}/TB` : 'STARTPTS'
  const placed = firstFrames ? [`asetpts=if(lt(N\\,${firstFrames.sampleCount})\\,${start}+N\\,PTS)`] : []
  return [
    ...(isContinuous ? [`asetpts=${start}+N`] : placed),
    ...(silentSamples > 0 ? [`asetpts=PTS-${silentSamples}`] : []),
  ]
}

/**
 * Fills a late start and gaps with silence and drops overlaps; async=1 fills and trims but never stretches. Below the
 * two thresholds it does nothing, not even at the start. It therefore begins early by a run-up, so that the gap before
 * the first sample is wide enough to be filled exactly.
 */
function clockFilter({ startSec, sampleRate, fromSample, jitterSec, driftSec }: FileClock, runUp: number): string {
  const firstPts = Math.round(startSec * sampleRate) + fromSample - runUp
  const follow =
    driftSec === null
      ? `async=1:min_comp=${jitterSec}:min_hard_comp=${jitterSec}`
      : // Steps would click. ffmpeg loses samples if its resampler starts in the middle, so it starts at once.
        `async=${Math.ceil(MOST_STRETCH * sampleRate)}:flags=res:min_comp=${driftSec}:min_hard_comp=${DRIFT_STEP_SEC}`
  return `aresample=${follow}:first_pts=${firstPts}`
}

/** The changes of a format by a pick of channels. */
const PICKED: Readonly<Record<ChannelPick['kind'], Partial<PcmFormat>>> = {
  all: {},
  one: { channels: 1, channelLayout: 'mono' },
  downmix: { channels: 2, channelLayout: 'stereo' },
}

/** The format after channels were picked. */
export function pickedFormat(format: PcmFormat, { kind }: ChannelPick): PcmFormat {
  return { ...format, ...PICKED[kind] }
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
