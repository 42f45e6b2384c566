import { readEdlEvents } from './edl-events.js'
import type { Segment } from './segments.js'

/**
 * Reads the events of a CMX3600 edit decision list: each names a part of the programme by its record timecodes.
 * Effects and comments are passed over; an event of no length is none.
 *
 * @throws {SyntaxError} where it holds no event
 */
export function readEdl(text: string): Segment[] {
  const segments = readEdlEvents(text)
    .filter(({ recordIn, recordOut }) => recordIn !== recordOut)
    .map(({ recordIn, recordOut }) => ({ startTimecode: recordIn, endTimecode: recordOut }))
  if (segments.length === 0) throw new SyntaxError('it holds no event')
  return segments
}
