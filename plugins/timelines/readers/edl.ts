import { basename } from 'node:path'
import {
  type EdlEvent,
  heardEvents,
  isBlack,
  readEdlEvents,
  unreadEdlLines,
} from '../../../src/pipeline/plan/edl-events.js'
import { isDropFrame } from '../../../src/pipeline/plan/timecode.js'
import { FoundClips } from '../found-clips.js'
import { nameOfPath, pathOfAddress } from '../media-path.js'
import { nominal } from '../time/frame-rate.js'
import { timecodeTime } from '../time/media-clock.js'
import {
  add,
  compare,
  decimal,
  divide,
  multiply,
  negate,
  type Rational,
  rational,
  subtract,
  ZERO,
} from '../time/rational.js'
import { hull, rangeOf, type TimeRange } from '../time/time-range.js'
import type { RelinkedMedia, Timeline, TimelineSource } from '../timeline.js'
import { TimelineSyntaxError } from '../timeline-error.js'

/**
 * Reads a CMX3600 edit decision list: events with sound, or all if the list has none. Source timecodes count on
 * each file's own.
 *
 * @param rate frames a second of all its timecodes, which the list does not say
 * @throws {TimelineSyntaxError}
 */
export function readEdlTimeline(text: string, rate: Rational): Timeline {
  const events = eventsOf(text)
  const sourceOf = events.map((event, index) => edlSource(event, otherSide(events, index)))
  const heard = new Set(heardEvents(events))
  const reading = new EdlReading(rate)
  const unread = 'looks like an event and cannot be read as one: what it plays is left as it is'
  for (const line of unreadEdlLines(text)) reading.found.add('unread', `Line ${line}`, unread)
  for (const [index, event] of events.entries())
    if (heard.has(event)) reading.event(event, sourceOf[index], otherSide(events, index))
  return reading.found.timeline((media) => relinkEdl(text, events, (index) => media.get(sourceOf[index]?.id ?? '')))
}

function eventsOf(text: string): readonly EdlEvent[] {
  try {
    return readEdlEvents(text)
  } catch (cause) {
    throw new TimelineSyntaxError(cause instanceof SyntaxError ? cause.message : 'it is not an edit decision list', {
      cause,
    })
  }
}

/**
 * The file of an event: as its comments name it, or its reel. Clips of one name from two reels are two files.
 *
 * @param next the other side of a transition that it goes out with
 */
function edlSource(event: EdlEvent, next: EdlEvent | undefined): TimelineSource | undefined {
  if (isBlack(event)) return undefined
  const reel = /^(AX|AUX)$/i.test(event.reel) ? [] : [event.reel]
  const names = [...writtenNames(event, next), ...reel]
  const [first] = names
  if (first === undefined) return undefined
  const [id, name] = [names.join('\n'), nameOfPath(first)]
  return { id, name, paths: names.map(pathOfAddress), origin: null }
}

class EdlReading {
  readonly found = new FoundClips()
  readonly #rate: Rational

  constructor(rate: Rational) {
    this.#rate = rate
  }

  /** `next` is the other side of the transition that it goes out with: it plays on under it. */
  event(event: EdlEvent, source: TimelineSource | undefined, next: EdlEvent | undefined): void {
    const clip = source?.name ?? event.reel
    const tail = divide(rational(next?.transitionFrames ?? 0), this.#rate)
    const isEmpty = event.sourceIn === event.sourceOut && (tail.numerator === 0n || isBlack(event))
    if (!source) {
      if (!isEmpty) this.found.left('generator', clip, 'names no recording')
      return
    }
    const own = this.#played(event, clip)
    const range = { start: own.start, end: add(own.end, tail) }
    if (compare(range.start, range.end) >= 0) return
    this.found.use(source, clip, [range], isDropFrame(event.sourceIn))
  }

  #played(event: EdlEvent, clip: string): TimeRange {
    const [start, end] = [this.#time(event.sourceIn), this.#time(event.sourceOut)]
    const written = rangeOf(start, subtract(end, start))
    const { speed } = event
    if (!speed) return written
    const programme = subtract(this.#time(event.recordOut), this.#time(event.recordIn))
    const factor = divide(decimal(String(speed.framesPerSec)) ?? this.#rate, rational(nominal(this.#rate)))
    this.found.speed(clip, factor, 'the range it covers')
    // Lists differ in what the source out of such an event says: whatever can be meant is covered.
    const moved = rangeOf(this.#time(speed.entry), multiply(programme, factor))
    return hull(factor.numerator < 0n ? rangeOf(moved.end, negate(subtract(moved.end, moved.start))) : moved, written)
  }

  #time(timecode: string): Rational {
    return timecodeTime(timecode, this.#rate) ?? ZERO
  }
}

/** Everything before the name in a line that names a clip or a file. */
const NAMING = /^(\s*\*\s*(?:(?:FROM|TO) CLIP NAME|SOURCE FILE(?:\s*PATH)?):\s*)/i

/**
 * Writes the list with other names in its comments; timecodes, reels and everything else stay. An event that had no
 * such comment gets one: an edit decision list has no other place for a file.
 *
 * @param mediaOf the new file of the event of a number; undefined if it keeps the old one
 */
function relinkEdl(
  text: string,
  events: readonly EdlEvent[],
  mediaOf: (index: number) => RelinkedMedia | undefined,
): string {
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/)
  for (const [index, event] of events.entries()) {
    let comment = 0
    for (let line = event.firstLine + 1; line <= event.lastLine; line++) {
      if (!lines[line]?.trimStart().startsWith('*')) continue
      const isOutgoing = comment++ < incomingComment(event)
      lines[line] = renamed(lines[line] as string, mediaOf(isOutgoing ? index - 1 : index))
    }
  }
  for (const [index, event] of events.entries()) {
    const media = mediaOf(index)
    if (!media || writtenNames(event, otherSide(events, index)).length > 0) continue
    lines[event.lastLine] = withLine(lines[event.lastLine] as string, `* FROM CLIP NAME: ${basename(media.path)}`)
  }
  return lines.join('')
}

function withLine(line: string, added: string): string {
  const [ending] = /(?:\r\n|\n|\r)?$/.exec(line) ?? ['']
  return `${line}${ending ? '' : '\n'}${added}${ending || '\n'}`
}

function renamed(line: string, media: RelinkedMedia | undefined): string {
  const [label] = NAMING.exec(line.replace(/[\r\n]+$/, '')) ?? []
  if (!media || label === undefined) return line
  const space = line.slice(Math.max(label.length, line.trimEnd().length))
  return label + (/FILE/i.test(label) ? media.path : basename(media.path)) + space
}

const FROM = /^FROM CLIP NAME:\s*(\S.*)$/i
const TO = /^TO CLIP NAME:\s*(\S.*)$/i
const FILE = /^SOURCE FILE(?:\s*PATH)?:\s*(\S.*)$/i

/**
 * Index of the first comment about the incoming clip of a transition; 0 if all comments are its own. Those before it are
 * about the outgoing clip, and those under a fade to black about the clip that fades.
 */
function incomingComment(event: EdlEvent): number {
  const { transitionFrames, comments } = event
  if (transitionFrames === 0) return 0
  const turn = comments.findIndex((comment) => TO.test(comment))
  return turn === -1 ? (isBlack(event) ? comments.length : 0) : turn
}

/**
 * Names that the comments give an event's file, the most exact first. The second line of a transition names both
 * clips. The line before it often exists only for the outgoing clip.
 *
 * @param next the line after it, if that is the other side of the same transition
 */
function writtenNames(event: EdlEvent, next: EdlEvent | undefined): readonly string[] {
  const own = namesIn(event.comments.slice(incomingComment(event)))
  return own.length > 0 || !next ? own : namesIn(next.comments.slice(0, incomingComment(next)))
}

function namesIn(comments: readonly string[]): readonly string[] {
  const first = (pattern: RegExp) =>
    comments.map((comment) => pattern.exec(comment)?.[1]).find((found) => found !== undefined)
  return [first(FILE), first(TO) ?? first(FROM)].filter((name) => name !== undefined)
}

/** The line after an event, if both are the sides of one transition. */
function otherSide(events: readonly EdlEvent[], index: number): EdlEvent | undefined {
  const [event, next] = [events[index], events[index + 1]]
  return next && next.number === event?.number && next.transitionFrames > 0 ? next : undefined
}
