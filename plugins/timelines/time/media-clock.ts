import { audioStreams, type MediaInfo, pictureOf } from '../../../src/media/index.js'
import { countsTimecode, isDropFrame, startTimecodeOf, timecodeFrames } from '../../../src/pipeline/plan/timecode.js'
import { ratio } from './frame-rate.js'
import { add, compare, divide, floor, multiply, type Rational, rational, toNumber, ZERO } from './rational.js'
import type { TimeRange } from './time-range.js'

/** The exact frame rate of a file's picture; undefined for one without. */
export function exactFrameRate(media: MediaInfo): Rational | undefined {
  return ratio(pictureOf(media)?.frameRate ?? '')
}

/**
 * Time of a file's own clock at its first sample, in exact seconds. It is the timecode at the frame rate, or a
 * broadcast wave's time reference at the sample rate; 0 if the file has neither.
 *
 * @param timelineRate counts the timecode of a file that has one but no picture
 */
export function mediaOrigin(media: MediaInfo, timelineRate: Rational | null): Rational {
  const reference = media.tags.time_reference
  const [audio] = audioStreams(media)
  if (reference !== undefined && /^\d{1,20}$/.test(reference) && audio)
    return rational(BigInt(reference), audio.sampleRate)
  const timecode = startTimecodeOf(media)
  const rate = exactFrameRate(media) ?? timelineRate
  if (timecode === undefined || !rate) return ZERO
  return timecodeTime(timecode, rate) ?? ZERO
}

/** Seconds since 00:00:00:00 of a timecode at an exact rate; undefined for what is none. */
export function timecodeTime(timecode: string, rate: Rational): Rational | undefined {
  const frames = timecodeFrames(timecode, Number(rate.numerator) / Number(rate.denominator))
  return frames === undefined ? undefined : divide(rational(frames), rate)
}

/**
 * A range of a list's timecodes as a file counts their labels: with drop frames, or without. Lists often do not say
 * that the timecode of a recording drops frames, or have one sign for recordings of both kinds.
 *
 * @param dropFrame how the list counted; undefined if it has no timecodes
 * @returns the same range if there is one way to count
 */
export function onLabels(
  { start, end }: TimeRange,
  dropFrame: boolean | undefined,
  media: MediaInfo,
  rate: Rational | null,
): TimeRange {
  const own = startTimecodeOf(media)
  const fileDrops = own !== undefined && isDropFrame(own)
  if (own === undefined || !rate || dropFrame === undefined || dropFrame === fileDrops) return { start, end }
  const isOther = compare(exactFrameRate(media) ?? rate, rate) !== 0
  if (isOther || !countsTimecode('00:00:00;00', toNumber(rate))) return { start, end }
  const nominal = Math.round(toNumber(rate))
  const dropped = Math.round(nominal / 15)
  const tenMinutes = nominal * 600 - 9 * dropped
  /** Numbers dropped up to a frame, which the list counted. */
  const gap = (frame: number) => {
    const minutes = Math.floor(frame / (nominal * 60))
    if (fileDrops) return -dropped * (minutes - Math.floor(minutes / 10))
    const odd = Math.max(0, Math.floor(((frame % tenMinutes) - dropped) / (nominal * 60 - dropped)))
    return dropped * (9 * Math.floor(frame / tenMinutes) + odd)
  }
  const moved = (time: Rational) => add(time, divide(rational(gap(Number(floor(multiply(time, rate))))), rate))
  return { start: moved(start), end: moved(end) }
}

/** Samples a second on which ranges are laid: of the fastest audio track. Null for a file without sound. */
export function rangeSampleRate(media: MediaInfo): number | null {
  const rates = audioStreams(media).map(({ sampleRate }) => sampleRate)
  return rates.length === 0 ? null : Math.max(...rates)
}
