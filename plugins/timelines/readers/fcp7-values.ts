import {
  absolute,
  add,
  compare,
  decimal,
  divide,
  multiply,
  ONE,
  type Rational,
  rational,
  subtract,
  ZERO,
} from '../time/rational.js'
import { hull, hullOf, length, rangeOf, scaled, type TimeRange } from '../time/time-range.js'
import { child, childElements, type XmlElement } from './xml-document.js'

/** Text of a child; undefined if there is none. */
export function childText(element: XmlElement | undefined, name: string): string | undefined {
  return child(element, name)?.text
}

/** A whole number of frames; undefined if it is missing or -1, which stands for "not set". */
export function frameNumber(element: XmlElement | undefined, name: string): bigint | undefined {
  const text = childText(element, name) ?? ''
  return /^\d{1,18}$/.test(text) ? BigInt(text) : undefined
}

/** Frames a second of an element's `rate`: `ntsc` makes the time base 1000/1001 as fast. */
export function rateOf(element: XmlElement | undefined): Rational | undefined {
  const rate = child(element, 'rate')
  const base = frameNumber(rate, 'timebase')
  if (base === undefined || base === 0n) return undefined
  return /^true$/i.test(childText(rate, 'ntsc') ?? '') ? rational(base * 1000n, 1001n) : rational(base)
}

/** How many frames into its file a subclip begins, from where its in and out count; 0 of any other clip. */
export function subclipStart(clip: XmlElement): bigint {
  return frameNumber(child(clip, 'subclipinfo'), 'startoffset') ?? 0n
}

/** Premiere Pro's ticks a second. */
export const TICKS = 254_016_000_000n

/**
 * The range of its file that a clip plays, by its in and out, in seconds. Premiere Pro also writes both in ticks,
 * because sound can be cut within a frame. The range goes as far as either value.
 */
export function clipRange(clip: XmlElement, rate: Rational): TimeRange {
  const [first, last] = [frameNumber(clip, 'in') ?? 0n, frameNumber(clip, 'out') ?? frameNumber(clip, 'duration') ?? 0n]
  const frame = divide(ONE, rate)
  const exact = (frames: bigint, ticks: bigint | undefined) => {
    const at = divide(rational(frames), rate)
    if (ticks === undefined) return { start: at, end: at }
    const fine = rational(ticks, TICKS)
    const isNear = compare(fine, subtract(at, frame)) > 0 && compare(fine, add(at, frame)) < 0
    return hull({ start: at, end: at }, isNear ? { start: fine, end: fine } : { start: at, end: at })
  }
  const [start, end] = [exact(first, frameNumber(clip, 'pproTicksIn')), exact(last, frameNumber(clip, 'pproTicksOut'))]
  return { start: start.start, end: end.end }
}

export function isOff(element: XmlElement): boolean {
  return /^false$/i.test(childText(element, 'enabled') ?? '')
}

/** A change of speed of a clip. */
export interface TimeRemap {
  /** Speed as a factor: 1 is unchanged, negative is backwards. */
  readonly speed: Rational
  /** Source frames at the keyframes of a speed that varies. */
  readonly frames: readonly Rational[]
}

/** The `timeremap` filter of a clip; undefined if it plays at its own speed. */
export function timeRemapOf(clip: XmlElement): TimeRemap | undefined {
  const effect = childElements(clip, 'filter')
    .filter((filter) => !isOff(filter))
    .map((filter) => child(filter, 'effect'))
    .find((one) => /^timeremap$/i.test(childText(one, 'effectid') ?? ''))
  if (!effect) return undefined
  const parameter = (id: string) =>
    childElements(effect, 'parameter').find((one) => childText(one, 'parameterid') === id)
  const percent = decimal(childText(parameter('speed'), 'value') ?? '100') ?? rational(100)
  const sign = /^true$/i.test(childText(parameter('reverse'), 'value') ?? '') ? -1 : 1
  const isVariable = /^(1|true)$/i.test(childText(parameter('variablespeed'), 'value') ?? '')
  const keyframes = childElements(parameter('graphdict'), 'keyframe')
  const frames = keyframes.map((one) => decimal(childText(one, 'value') ?? '')).filter((frame) => frame !== undefined)
  const speed = multiply(divide(percent, rational(100)), rational(sign))
  if (!isVariable && speed.numerator === speed.denominator) return undefined
  return { speed, frames: isVariable ? frames : [] }
}

/**
 * Ranges that a clip with a change of speed can cover, in frames of its file. Programs count in and out before or
 * after the change, so both ranges are returned. A clip that plays backwards covers the whole file.
 */
export function remappedFrames(
  played: TimeRange,
  { speed, frames }: TimeRemap,
  duration: bigint | undefined,
): readonly TimeRange[] {
  if (frames.length > 0) return [hullOf(frames)]
  if (speed.numerator < 0n && duration !== undefined) return [{ start: ZERO, end: rational(duration) }]
  const size = absolute(speed)
  return [scaled(played, size), rangeOf(played.start, multiply(length(played), size))]
}
