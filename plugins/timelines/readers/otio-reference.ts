import { nameOfPath, pathOfAddress } from '../media-path.js'
import type { TimelineSource } from '../timeline.js'
import { type JsonNode, member, stringOf } from './json-tree.js'
import { activeReference, rangeValue, schemaOf } from './otio-values.js'

/** The media file of a clip; undefined if its reference names none. */
export function sourceOf(clip: JsonNode): TimelineSource | undefined {
  const reference = activeReference(clip)
  const address = stringOf(member(reference, 'target_url'))
  if (schemaOf(reference) !== 'ExternalReference' || !address) return undefined
  const path = pathOfAddress(address)
  const available = rangeValue(member(reference, 'available_range'))
  // The same file can be described twice; the clock is the same only if the descriptions agree.
  const origin = available?.start ?? null
  const id = origin ? `${address}@${origin.numerator}/${origin.denominator}` : address
  return { id, name: nameOfPath(path), paths: [path], origin }
}
