import type { MediaInfo } from '../../media-info.js'
import type { WantedTrack } from '../writer.js'
import { firstFrameOf, type SoundUnits, type TimedFrames } from './timed-frames.js'

export const TICKS_A_SEC = 90_000
/** After so many seconds, a clock of 33 bits begins again. */
const WRAP_SEC = 2 ** 33 / TICKS_A_SEC
/** ffmpeg rounds times to a tick. */
const SAME_START_SEC = 0.0005
/** Gaps up to this length are rounding. Longer ones become silence, for which the track has no packets. */
const MOST_OFF_TICKS = 108
/** The same in seconds. */
export const MOST_OFF_SEC = MOST_OFF_TICKS / TICKS_A_SEC

/** The reason why new frames of so many samples would not lie at their times; undefined if they do. */
export function clockFault(
  sound: TimedFrames,
  track: WantedTrack,
  media: MediaInfo,
  samples: number,
): string | undefined {
  // The last unit may hold the rest of a frame that was cut off, and the time of one that is missing.
  return unitClockFault(sound.units, track, media, (unit) => {
    const first = firstFrameOf(sound, unit)
    return first < sound.frames.count ? samples * first : Number.NaN
  })
}

/**
 * The reason why new samples would not lie at the times of their units; undefined if they do.
 *
 * @param samplesBefore a unit; NaN for one without sound
 */
export function unitClockFault(
  units: SoundUnits,
  { input }: WantedTrack,
  media: MediaInfo,
  samplesBefore: (unit: number) => number,
  mostOffTicks = MOST_OFF_TICKS,
): string | undefined {
  if (input.followsDrift) return 'the clock of the track moves away from its samples'
  let start: number | undefined
  for (let unit = 0; unit < units.count; unit++) {
    const ticks = units.ticks(unit)
    const before = (samplesBefore(unit) * TICKS_A_SEC) / input.sampleRate
    if (Number.isNaN(ticks) || Number.isNaN(before)) continue
    start ??= ticks - before
    if (Math.abs(ticks - start - before) > mostOffTicks) return 'the clock of the track has gaps'
  }
  if (start === undefined) return 'the track states no times'
  const apart = Math.abs(start / TICKS_A_SEC - (input.startSec ?? media.startSec)) % WRAP_SEC
  if (Math.min(apart, WRAP_SEC - apart) > SAME_START_SEC) return 'ffmpeg reads another start of the track'
  return undefined
}
