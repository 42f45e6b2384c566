import { type EdlEvent, isBlack } from '../../../src/pipeline/plan/edl-events.js'

const FROM = /^FROM CLIP NAME:\s*(\S.*)$/i
const TO = /^TO CLIP NAME:\s*(\S.*)$/i
const FILE = /^SOURCE FILE(?:\s*PATH)?:\s*(\S.*)$/i

/**
 * Index of the first comment about the incoming clip of a transition; 0 if all comments are its own. Those before it are
 * about the outgoing clip, and those under a fade to black about the clip that fades.
 */
export function incomingComment(event: EdlEvent): number {
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
export function writtenNames(event: EdlEvent, next: EdlEvent | undefined): readonly string[] {
  const own = namesIn(event.comments.slice(incomingComment(event)))
  return own.length > 0 || !next ? own : namesIn(next.comments.slice(0, incomingComment(next)))
}

function namesIn(comments: readonly string[]): readonly string[] {
  const first = (pattern: RegExp) =>
    comments.map((comment) => pattern.exec(comment)?.[1]).find((found) => found !== undefined)
  return [first(FILE), first(TO) ?? first(FROM)].filter((name) => name !== undefined)
}

/** The line after an event, if both are the sides of one transition. */
export function otherSide(events: readonly EdlEvent[], index: number): EdlEvent | undefined {
  const [event, next] = [events[index], events[index + 1]]
  return next && next.number === event?.number && next.transitionFrames > 0 ? next : undefined
}
