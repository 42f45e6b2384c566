import { frameRate } from '../time/frame-rate.js'
import {
  add,
  compare,
  decimal,
  divide,
  multiply,
  ONE,
  type Rational,
  rational,
  subtract,
  toNumber,
} from '../time/rational.js'
import { hullOf, type TimeRange } from '../time/time-range.js'
import { child, childElements, type XmlElement } from './xml-document.js'

/** Seconds of an attribute such as `1001/30000s` or `5s`; undefined if there is none. */
export function timeAttribute(element: XmlElement | undefined, name: string): Rational | undefined {
  const [, value = '', divisor] = /^(-?[\d.]{1,30})(?:\/(\d{1,20}))?s$/.exec(element?.attributes[name] ?? '') ?? []
  const count = decimal(value)
  if (!count || divisor === undefined) return count
  return BigInt(divisor) === 0n ? undefined : divide(count, rational(BigInt(divisor)))
}

/** A switch that is on unless it says 0. */
export function isOn(element: XmlElement, name: string): boolean {
  return element.attributes[name] !== '0'
}

/** Checks whether a clip's sound is switched off, role by role or channel by channel. */
export function isMuted(element: XmlElement): boolean {
  const parts = [...childElements(element, 'audio-channel-source'), ...childElements(element, 'audio-role-source')]
  return parts.length > 0 && parts.every((part) => !isOn(part, 'enabled') || !isOn(part, 'active'))
}

/** The main roles of a clip's sound (`dialogue`, `music`, `effects`, or a person's own); empty if none is given. */
export function audioRoles(element: XmlElement): readonly string[] {
  const { attributes } = element
  const own = element.name === 'audio' || element.name === 'asset-clip' ? [attributes.audioRole ?? attributes.role] : []
  const parts = childElements(element, 'audio-channel-source').map((part) => part.attributes.role)
  const given = parts.some((role) => role !== undefined) ? parts : own
  return given.filter((role) => role !== undefined).map((role) => role.split('.')[0]?.toLowerCase() ?? '')
}

/** A point of a clip's retiming. */
export interface TimePoint {
  readonly time: Rational
  readonly value: Rational
}

/** The points of a clip's retiming, by their time; none if it plays at its own speed. */
export function timePoints(element: XmlElement): readonly TimePoint[] {
  const points = childElements(child(element, 'timeMap'), 'timept').flatMap((point) => {
    const [time, value] = [timeAttribute(point, 'time'), timeAttribute(point, 'value')]
    return time && value ? [{ time, value }] : []
  })
  return points.sort((a, b) => compare(a.time, b.time))
}

/** The range that a retimed clip covers: linear between its points, and beyond them as at the nearest. */
export function mappedRange({ start, end }: TimeRange, points: readonly TimePoint[]): TimeRange {
  const inside = points.filter(({ time }) => compare(time, start) > 0 && compare(time, end) < 0)
  const values = [mappedTime(start, points), ...inside.map(({ value }) => value), mappedTime(end, points)]
  return hullOf(values)
}

/** Checks whether the middle of a range lies among the points; under a transition its ends may not. */
export function isAmong({ start, end }: TimeRange, points: readonly TimePoint[]): boolean {
  const middle = divide(add(start, end), rational(2))
  const [first, last] = [points[0], points.at(-1)]
  return (
    first !== undefined && last !== undefined && compare(first.time, middle) <= 0 && compare(middle, last.time) <= 0
  )
}

function mappedTime(time: Rational, points: readonly TimePoint[]): Rational {
  const after = points.findIndex((point) => compare(point.time, time) > 0)
  const at = after === -1 ? points.length - 1 : Math.max(1, after)
  const [a, b] = [points[Math.max(0, at - 1)], points[at]]
  if (!a || !b || compare(a.time, b.time) === 0) return add(time, a ? subtract(a.value, a.time) : rational(0))
  const slope = divide(subtract(b.value, a.value), subtract(b.time, a.time))
  return add(a.value, multiply(subtract(time, a.time), slope))
}

/** How much faster a clip plays than recorded if its frames are played one for one (24 in 23.976). Otherwise 1. */
export function conformedSpeed(element: XmlElement, sequenceRate: Rational | undefined): Rational {
  const conform = child(element, 'conform-rate')
  const source = frameRate(conform?.attributes.srcFrameRate ?? '')
  if (!conform || !source || !sequenceRate || !isOn(conform, 'scaleEnabled')) return ONE
  const speed = divide(sequenceRate, source)
  return Math.abs(toNumber(speed) - 1) < 0.06 ? speed : ONE
}
