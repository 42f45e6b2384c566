import { UsageError } from '../../../src/core/errors.js'
import { type EdlEvent, readEdlEvents } from '../../../src/pipeline/plan/edl-events.js'
import { countsTimecode } from '../../../src/pipeline/plan/timecode.js'
import type { NoteTaker } from '../note-taker.js'
import type { SourceMedia } from '../plan-source.js'
import type { TimelineFile } from '../read-timeline.js'
import { nominal } from './frame-rate.js'
import { exactFrameRate } from './media-clock.js'
import { type Rational, rational, toNumber } from './rational.js'

/**
 * The frame rate that an edit decision list counts but does not name. It is the requested rate, or that of the first
 * picture among its media that fits its timecodes. A note reports a choice that could be another.
 *
 * @throws {UsageError} `ERR_TIMELINE_RATE` if no rate is known, or if its timecodes do not fit the requested one
 */
export function listRate(
  file: TimelineFile,
  asked: Rational | null,
  media: readonly SourceMedia[],
  notes: NoteTaker,
): Rational {
  const events = readEdlEvents(file.text)
  if (asked) {
    const misfit = timecodesOf(events).find((timecode) => !fits(timecode, asked))
    if (misfit !== undefined) throw notOfRate(file, misfit, asked)
    return asked
  }
  const rates = media.flatMap((source) => exactFrameRate(source.media) ?? [])
  const known = [...new Map(rates.map((rate) => [`${rate.numerator}/${rate.denominator}`, rate])).values()]
  const [first] = known
  if (!first) throw unknownRate(file, 'none of its media has a picture')
  const possible = known.filter((rate) => timecodesOf(events).every((timecode) => fits(timecode, rate)))
  const [rate, other] = possible
  if (!rate) {
    const misfit = timecodesOf(events).find((timecode) => !fits(timecode, first)) ?? ''
    throw unknownRate(file, `${misfit} is not a timecode at ${decimals(first)}, that of its media`)
  }
  const half = rational(rate.numerator, rate.denominator * 2n)
  if (other) noteChoice(notes, rate, `that of its media that comes first: others have ${decimals(other)}`)
  else if (nominal(rate) >= 48 && timecodesOf(events).every((timecode) => fits(timecode, half)))
    noteChoice(notes, rate, `that of its media: it could as well count ${decimals(half)}`)
  return rate
}

/** All that count on the media or on the programme: a list has one rate for both. */
function timecodesOf(events: readonly EdlEvent[]): readonly string[] {
  return events.flatMap((one) => [one.sourceIn, one.sourceOut, one.recordIn, one.recordOut])
}

function fits(timecode: string, rate: Rational): boolean {
  return countsTimecode(timecode, toNumber(rate))
}

function decimals(rate: Rational): string {
  return String(Math.round(toNumber(rate) * 1000) / 1000)
}

function noteChoice(notes: NoteTaker, rate: Rational, why: string): void {
  notes.add('frame-rate', 'The list', `is taken to count ${decimals(rate)} frames a second, ${why} (--fps says it)`)
}

const REMEDIES = ['Name the rate of the sequence it was exported from: --fps 25, --fps 23.976 or --fps 29.97.']

function unknownRate({ path }: TimelineFile, why: string): UsageError {
  return new UsageError('ERR_TIMELINE_RATE', `${path} does not state its frame rate, and ${why}.`, {
    input: path,
    remedies: REMEDIES,
  })
}

function notOfRate({ path }: TimelineFile, timecode: string, rate: Rational): UsageError {
  return new UsageError(
    'ERR_TIMELINE_RATE',
    `${path} does not count ${decimals(rate)} frames a second: it has the timecode ${timecode}.`,
    { input: path, remedies: REMEDIES },
  )
}
