import { audioStreams, type MediaInfo, pictureOf } from '../../../src/media/index.js'
import { startTimecodeOf, timecodeFrames } from '../../../src/pipeline/plan/timecode.js'
import { ratio } from './frame-rate.js'
import { divide, type Rational, rational, ZERO } from './rational.js'

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

/** Samples a second on which ranges are laid: of the fastest audio track. Null for a file without sound. */
export function rangeSampleRate(media: MediaInfo): number | null {
  const rates = audioStreams(media).map(({ sampleRate }) => sampleRate)
  return rates.length === 0 ? null : Math.max(...rates)
}
