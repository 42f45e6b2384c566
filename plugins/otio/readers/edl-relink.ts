import { basename } from 'node:path'
import type { EdlEvent } from 'voxmux'
import type { RelinkedMedia } from '../timeline.js'

const FROM = /^FROM CLIP NAME:\s*(.+)$/i
const TO = /^TO CLIP NAME:\s*(.+)$/i
const FILE = /^SOURCE FILE(?:\s*PATH)?:\s*(.+)$/i
/** A line that names a clip or a file: what stands before the name, the name, and what follows. */
const NAMING = /^(\s*\*\s*(?:(?:FROM|TO) CLIP NAME|SOURCE FILE(?:\s*PATH)?):\s*)(.*?)(\s*)$/i

/** What the comments under an event call its file, the most exact first. */
export function writtenNames(event: EdlEvent): readonly string[] {
  // Of the two sides of a transition, the second names the clip that goes out before its own.
  const to = event.transitionFrames > 0 ? commentOf(event, TO) : undefined
  return [commentOf(event, FILE), to ?? commentOf(event, FROM)].filter((name) => name !== undefined)
}

function commentOf({ comments }: EdlEvent, pattern: RegExp): string | undefined {
  return comments.map((comment) => pattern.exec(comment)?.[1]).find((found) => found !== undefined)
}

/**
 * Writes the list with other names in its comments; timecodes, reels and everything else stay. An event that had no
 * such comment gets one: an edit decision list has no other place for a file.
 *
 * @param mediaOf the new file of an event; undefined where it keeps the old one
 */
export function relinkEdl(
  text: string,
  events: readonly EdlEvent[],
  mediaOf: (event: EdlEvent) => RelinkedMedia | undefined,
): string {
  const relinked = events.map((event) => ({ event, media: mediaOf(event) }))
  const byName = new Map(relinked.flatMap(({ event, media }) => writtenNames(event).map((name) => [name, media])))
  const unnamed = new Map(
    relinked
      .filter(({ event }) => writtenNames(event).length === 0)
      .map(({ event, media }) => [event.lastLine, media] as const),
  )
  return text
    .split(/(?<=\r\n|\n|\r(?!\n))/)
    .map((line, index) => {
      const ending = /(\r\n|\n|\r)?$/.exec(line)?.[0] ?? ''
      const body = line.slice(0, line.length - ending.length)
      const added = unnamed.get(index)
      if (added) return `${body}${ending || '\n'}* FROM CLIP NAME: ${basename(added.path)}${ending || '\n'}`
      return renamed(body, byName) + ending
    })
    .join('')
}

function renamed(body: string, byName: ReadonlyMap<string, RelinkedMedia | undefined>): string {
  const [, label = '', name = '', space = ''] = NAMING.exec(body) ?? []
  const media = byName.get(name)
  if (!media) return body
  return label + (/FILE/i.test(label) ? media.path : basename(media.path)) + space
}
