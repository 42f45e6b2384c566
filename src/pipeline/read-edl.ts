import type { Segment } from './segments.js'

/** `003  AX  AA/V  C  01:00:10:00 01:00:12:00 01:00:20:05 01:00:22:05`: the last two are where it plays. */
const EVENT = /^\d+\s+\S+\s+\S+\s+\S+(?:\s+\d+)?\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)$/
const TIMECODE = /^\d{2}:\d{2}:\d{2}[:;.,]\d{2}$/

/**
 * Reads the events of a CMX3600 edit decision list: each names a part of the programme by its record timecodes.
 * Effects and comments are passed over; an event of no length is none.
 *
 * @throws {SyntaxError} where it holds no event
 */
export function readEdl(text: string): Segment[] {
  let isDropFrame = false
  const segments: Segment[] = []
  for (const raw of text.split(/\r\n|\r|\n/)) {
    const line = raw.trim()
    const mode = /^FCM:\s*(NON[- ])?DROP FRAME/i.exec(line)
    if (mode) isDropFrame = mode[1] === undefined
    const times = EVENT.exec(line)?.slice(1) ?? []
    if (times.length !== 4 || !times.every((time) => TIMECODE.test(time))) continue
    const [startTimecode, endTimecode] = times.slice(2).map((time) => normal(time, isDropFrame)) as [string, string]
    if (startTimecode !== endTimecode) segments.push({ startTimecode, endTimecode })
  }
  if (segments.length === 0) throw new SyntaxError('it holds no event')
  return segments
}

/** A semicolon before the frames says drop frame, whatever mark the list itself uses. */
function normal(time: string, isDropFrame: boolean): string {
  const drops = isDropFrame || /[;.,]/.test(time)
  return `${time.slice(0, 8)}${drops ? ';' : ':'}${time.slice(9)}`
}
