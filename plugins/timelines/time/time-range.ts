import { add, compare, larger, multiply, type Rational, smaller, subtract } from './rational.js'

/** A half-open range in seconds, `start <= end`. */
export interface TimeRange {
  readonly start: Rational
  readonly end: Rational
}

/** A range of a length; a negative length runs backwards from `start`. */
export function rangeOf(start: Rational, length: Rational): TimeRange {
  const end = add(start, length)
  return { start: smaller(start, end), end: larger(start, end) }
}

/** The part that two ranges share; undefined if there is none. */
export function intersection(a: TimeRange, b: TimeRange): TimeRange | undefined {
  const [start, end] = [larger(a.start, b.start), smaller(a.end, b.end)]
  return compare(start, end) < 0 ? { start, end } : undefined
}

/** The smallest range that holds both. */
export function hull(a: TimeRange, b: TimeRange): TimeRange {
  return { start: smaller(a.start, b.start), end: larger(a.end, b.end) }
}

/** The smallest range that holds some times. There must be at least one. */
export function hullOf(times: readonly Rational[]): TimeRange {
  return { start: times.reduce(smaller), end: times.reduce(larger) }
}

export function length({ start, end }: TimeRange): Rational {
  return subtract(end, start)
}

export function moved({ start, end }: TimeRange, by: Rational): TimeRange {
  return { start: add(start, by), end: add(end, by) }
}

/** A range on another clock: seconds become frames, or those of a clip seconds of its source. */
export function scaled({ start, end }: TimeRange, factor: Rational): TimeRange {
  return { start: multiply(start, factor), end: multiply(end, factor) }
}

/** A range that begins earlier and ends later, as far as transitions reach beyond it. */
export function widened({ start, end }: TimeRange, lead: Rational, tail: Rational): TimeRange {
  return { start: subtract(start, lead), end: add(end, tail) }
}

/** How an item lies in what contains it: `at` is filled from `sourceStart` on, `speed` seconds of source a second. */
interface Placement {
  readonly at: TimeRange
  readonly sourceStart: Rational
  readonly speed: Rational
}

/** The part of the source that plays within a window of the container (null: all of it); undefined if none does. */
export function playedPart({ at, sourceStart, speed }: Placement, window: TimeRange | null): TimeRange | undefined {
  const seen = window === null ? at : intersection(at, window)
  if (!seen || compare(seen.start, seen.end) >= 0) return undefined
  const from = add(sourceStart, multiply(subtract(seen.start, at.start), speed))
  return rangeOf(from, multiply(length(seen), speed))
}
