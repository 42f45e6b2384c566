import { type Box, bodyOf, childAt } from './box.js'

/** The track that a `traf` belongs to; undefined if it does not say. */
export function trackIdOf(traf: Box): number | undefined {
  const body = bodyOf(childAt(traf, 'tfhd'))
  return body.length >= 8 ? body.readUInt32BE(4) : undefined
}

/** Decoding time of the first sample of a `traf`, in ticks of its track; null if it does not say. */
export function decodeTimeOf(traf: Box): number | null {
  const body = bodyOf(childAt(traf, 'tfdt'))
  if (body[0] === 1 && body.length >= 12) return Number(body.readBigUInt64BE(4))
  return body.length >= 8 ? body.readUInt32BE(4) : null
}
