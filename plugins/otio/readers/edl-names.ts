import type { EdlEvent } from 'voxmux'

const FROM = /^FROM CLIP NAME:\s*(.+)$/i
const TO = /^TO CLIP NAME:\s*(.+)$/i
const FILE = /^SOURCE FILE(?:\s*PATH)?:\s*(.+)$/i

/** The comments under an event, by the clip that they are about. */
interface Sides {
  /** Of the clip that goes out in a transition: what stands before the name of the one that comes in. */
  readonly outgoing: readonly string[]
  readonly own: readonly string[]
}

/** Whether a reel stands for no recording. */
export function isBlack({ reel }: EdlEvent): boolean {
  return /^(BL|BLACK|BARS)$/i.test(reel)
}

/**
 * Where the comments turn from the clip that goes out to the one that comes in; 0 where all are its own. What stands
 * under a fade to black is about the clip that fades.
 */
export function turnOf(event: EdlEvent): number {
  const { transitionFrames, comments } = event
  if (transitionFrames === 0) return 0
  const turn = comments.findIndex(isTurn)
  return turn === -1 ? (isBlack(event) ? comments.length : 0) : turn
}

/** Whether a comment begins what is said of the clip that comes in. */
function isTurn(comment: string): boolean {
  return TO.test(comment)
}

function sidesOf(event: EdlEvent): Sides {
  const turn = turnOf(event)
  return { outgoing: event.comments.slice(0, turn), own: event.comments.slice(turn) }
}

/**
 * What the comments call an event's file, the most exact first. Of a transition, both clips are named under its
 * second line: the one that goes out too, whose line before it is often there for nothing else.
 *
 * @param next the line after it, where that is the other side of one transition
 */
export function writtenNames(event: EdlEvent, next: EdlEvent | undefined): readonly string[] {
  const own = namesIn(sidesOf(event).own)
  return own.length > 0 || !next ? own : namesIn(sidesOf(next).outgoing)
}

function namesIn(comments: readonly string[]): readonly string[] {
  const first = (pattern: RegExp) =>
    comments.map((comment) => pattern.exec(comment)?.[1]).find((found) => found !== undefined)
  return [first(FILE), first(TO) ?? first(FROM)].filter((name) => name !== undefined)
}

/** The line after an event, where both are the sides of one transition. */
export function otherSide(events: readonly EdlEvent[], index: number): EdlEvent | undefined {
  const [event, next] = [events[index], events[index + 1]]
  return next && next.number === event?.number && next.transitionFrames > 0 ? next : undefined
}
