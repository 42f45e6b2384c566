/** One event of a CMX3600 list with its lines. Timecodes as `01:00:00:00`, with `;` for drop frame. */
export interface EdlEvent {
  /** Event number as written. The two sides of a transition share one. */
  readonly number: string
  /** Tape or file; `BL` is black, `AX` an auxiliary source. */
  readonly reel: string
  /** Edited channels: `V`, `A`, `A2`, `AA`, `AA/V`, `B` (both) … */
  readonly channels: string
  /** Length of the transition; 0 for a cut. */
  readonly transitionFrames: number
  readonly sourceIn: string
  /** The first frame after the event. */
  readonly sourceOut: string
  readonly recordIn: string
  readonly recordOut: string
  /** From an `M2` line; null at normal speed. */
  readonly speed: EdlSpeed | null
  /** Audio channels beyond the second, from an `AUD` line. */
  readonly moreAudio: readonly number[]
  /** Texts of the lines that begin with `*`, without the asterisk. */
  readonly comments: readonly string[]
  /** The lines of the event, counted from 0: its own line to the last one below it. */
  readonly firstLine: number
  readonly lastLine: number
}

/** An event whose lines are still being read. */
interface OpenEvent extends EdlEvent {
  /** All copies of the event share it: a list can hold any number of comments. */
  readonly comments: string[]
}

/** Motion effect of an event. */
interface EdlSpeed {
  /** Source frames per second of programme; negative plays backwards. */
  readonly framesPerSec: number
  /** Source timecode of the first frame played. */
  readonly entry: string
}

/** `003  AX  AA/V  C  01:00:10:00 01:00:12:00 01:00:20:05 01:00:22:05`: the last two are the place in the programme. */
const EVENT = /^(\d+)\s+(\S+)\s+(\S+)\s+(\S+)(?:\s+(\d+))?\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)$/
/** The same with spaces in the reel, or with a key for the background (`K B`) or a fade-out (`K O`). */
const SPACED_EVENT =
  /^(\d+)\s+(\S.{0,200}?)\s+([AVBN][A-Z\d/]*)\s+(C|D|W\d{0,3}|K(?:\s*[BO])?)(?:\s+(\d+))?\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)$/i
/** A line that begins with a number and ends with timecodes is meant as an event. */
const LIKE_EVENT = /^\d+\s.*\d\d[:;]\d\d[:;]\d\d[:;.,]\d\d\s+\d\d[:;]\d\d[:;]\d\d[:;.,]\d\d$/
const SPEED = /^M2\s+(\S.{0,200}?)\s+([+-]?\d+(?:\.\d+)?)\s+(\S+)$/i
const MORE_AUDIO = /^AUD(?:\s+\d+)+$/i
const TIMECODE = /^\d{2}[:;]\d{2}[:;]\d{2}[:;.,]\d{2}$/

/** Reads a CMX3600 edit decision list. @throws {SyntaxError} if it has no event */
export function readEdlEvents(text: string): EdlEvent[] {
  let isDropFrame = false
  const events: OpenEvent[] = []
  for (const [index, raw] of text.split(/\r\n|\r|\n/).entries()) {
    const line = raw.trim()
    const mode = /^FCM:\s*(NON[- ])?DROP FRAME/i.exec(line)
    if (mode) isDropFrame = mode[1] === undefined
    const event = eventOf(line, isDropFrame, index)
    if (event) events.push(event)
    const last = events.at(-1)
    if (event || !last || line === '' || mode) continue
    const [own, other] = [withLine(last, line, isDropFrame, index), events.at(-2)]
    if (other && own.speed !== last.speed && belongsTo(line, other, last)) {
      events[events.length - 2] = { ...other, speed: own.speed }
      events[events.length - 1] = { ...last, lastLine: index }
    } else events[events.length - 1] = own
  }
  if (events.length === 0) throw new SyntaxError('it contains no event')
  return events
}

/** Checks whether a reel stands for black or generated media, not for a recording. */
export function isBlack({ reel }: EdlEvent): boolean {
  return /^(BL|BLACK|BARS)$/i.test(reel)
}

/** The events with sound, or all if no recording has its own: sound travels with the picture. */
export function heardEvents(events: readonly EdlEvent[]): readonly EdlEvent[] {
  return events.some((event) => hasSound(event) && !isBlack(event)) ? events.filter(hasSound) : events
}

/** Checks whether an event edits sound: `NONE` means that the line below lists all of its channels. */
function hasSound({ channels, moreAudio }: EdlEvent): boolean {
  return moreAudio.length > 0 || /[AB]/i.test(channels.replace(/^NONE$/i, ''))
}

/** Line numbers, counted from 1, of the lines that look like events and cannot be read. */
export function unreadEdlLines(text: string): readonly number[] {
  return text
    .split(/\r\n|\r|\n/)
    .flatMap((raw, index) => (LIKE_EVENT.test(raw.trim()) && !eventOf(raw.trim(), false, index) ? [index + 1] : []))
}

/** True if a motion effect below a transition names the reel of the outgoing side. */
function belongsTo(line: string, outgoing: EdlEvent, { number, reel }: EdlEvent): boolean {
  const named = SPEED.exec(line)?.[1]
  return outgoing.number === number && named === outgoing.reel && named !== reel
}

function eventOf(line: string, isDropFrame: boolean, index: number): OpenEvent | undefined {
  const [, number = '', reel = '', channels = '', , frames = '0', ...times] =
    EVENT.exec(line) ?? SPACED_EVENT.exec(line) ?? []
  if (times.length !== 4 || !times.every((time) => TIMECODE.test(time))) return undefined
  const [sourceIn = '', sourceOut = '', recordIn = '', recordOut = ''] = times.map((time) => normal(time, isDropFrame))
  return {
    ...{ number, reel, channels, transitionFrames: Number(frames) },
    ...{ sourceIn, sourceOut, recordIn, recordOut, speed: null, moreAudio: [], comments: [] },
    ...{ firstLine: index, lastLine: index },
  }
}

function withLine(event: OpenEvent, line: string, isDropFrame: boolean, index: number): OpenEvent {
  const [, , framesPerSec, entry = ''] = SPEED.exec(line) ?? []
  if (framesPerSec !== undefined && TIMECODE.test(entry)) {
    return {
      ...event,
      speed: { framesPerSec: Number(framesPerSec), entry: normal(entry, isDropFrame) },
      lastLine: index,
    }
  }
  if (MORE_AUDIO.test(line)) return { ...event, moreAudio: line.split(/\s+/).slice(1).map(Number), lastLine: index }
  if (!line.startsWith('*')) return event
  event.comments.push(line.slice(1).trim())
  return { ...event, lastLine: index }
}

/** A semicolon before the frames means drop frame, whatever separator the list itself uses. */
function normal(time: string, isDropFrame: boolean): string {
  const drops = isDropFrame || /[;.,]/.test(time)
  return `${time.slice(0, 8).replaceAll(';', ':')}${drops ? ';' : ':'}${time.slice(9)}`
}
