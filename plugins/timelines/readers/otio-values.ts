import { frameRate } from '../time/frame-rate.js'
import { add, compare, decimal, divide, larger, multiply, ONE, type Rational, ZERO } from '../time/rational.js'
import { itemsOf, type JsonNode, member, stringOf } from './json-tree.js'

/** `Clip` of `Clip.2`; undefined for any value that is not an OTIO object. */
export function schemaOf(node: JsonNode | undefined): string | undefined {
  return stringOf(member(node, 'OTIO_SCHEMA'))?.split('.')[0]
}

/** The media reference that a clip plays: its only one (Clip.1), or the active one of several. */
export function activeReference(clip: JsonNode): JsonNode | undefined {
  const active = stringOf(member(clip, 'active_media_reference_key')) ?? 'DEFAULT_MEDIA'
  return member(member(clip, 'media_references'), active) ?? member(clip, 'media_reference')
}

export function isDisabled(node: JsonNode): boolean {
  const enabled = member(node, 'enabled')
  return enabled?.kind === 'literal' && enabled.text === 'false'
}

/** Seconds of a RationalTime; undefined for anything else. */
export function timeOf(node: JsonNode | undefined): Rational | undefined {
  const [value, rate] = [member(node, 'value'), member(node, 'rate')]
  if (value?.kind !== 'number' || rate?.kind !== 'number') return undefined
  const [count, perSec] = [decimal(value.text), frameRate(rate.text)]
  return count && perSec && divide(count, perSec)
}

interface Trim {
  readonly start: Rational
  readonly duration: Rational
}

/** A TimeRange in seconds; undefined for anything else. */
export function rangeValue(node: JsonNode | undefined): Trim | undefined {
  const [start, duration] = [timeOf(member(node, 'start_time')), timeOf(member(node, 'duration'))]
  return start && duration && compare(duration, ZERO) >= 0 ? { start, duration } : undefined
}

/** The part of an item that its parent shows, on the item's own clock: all it has where it is not trimmed. */
export function trimOf(node: JsonNode): Trim {
  const trimmed = rangeValue(member(node, 'source_range'))
  if (trimmed) return trimmed
  switch (schemaOf(node)) {
    case 'Clip':
      return rangeValue(member(activeReference(node), 'available_range')) ?? { start: ZERO, duration: ZERO }
    case 'Track':
      return { start: ZERO, duration: childDurations(node).reduce(add, ZERO) }
    case 'Stack':
      return { start: ZERO, duration: childDurations(node).reduce(larger, ZERO) }
    default:
      return { start: ZERO, duration: ZERO }
  }
}

/** True of a clip that has no range, and whose media have none either. */
export function isUnranged(clip: JsonNode): boolean {
  return !rangeValue(member(clip, 'source_range')) && !rangeValue(member(activeReference(clip), 'available_range'))
}

function childDurations(node: JsonNode): Rational[] {
  return itemsOf(member(node, 'children'))
    .filter((child) => schemaOf(child) !== 'Transition')
    .map((child) => trimOf(child).duration)
}

/** Source seconds a second of an item's linear time effects together: 1 for none, 0 for a freeze frame. */
export function speedOf(node: JsonNode): Rational {
  return itemsOf(member(node, 'effects'))
    .map((effect) => {
      if (schemaOf(effect) === 'FreezeFrame') return ZERO
      const scalar = schemaOf(effect) === 'LinearTimeWarp' ? member(effect, 'time_scalar') : undefined
      return (scalar?.kind === 'number' && decimal(scalar.text)) || ONE
    })
    .reduce(multiply, ONE)
}
