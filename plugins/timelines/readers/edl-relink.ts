import { basename } from 'node:path'
import type { EdlEvent } from '../../../src/pipeline/plan/edl-events.js'
import type { RelinkedMedia } from '../timeline.js'
import { incomingComment, otherSide, writtenNames } from './edl-names.js'

/** Everything before the name in a line that names a clip or a file. */
const NAMING = /^(\s*\*\s*(?:(?:FROM|TO) CLIP NAME|SOURCE FILE(?:\s*PATH)?):\s*)/i

/**
 * Writes the list with other names in its comments; timecodes, reels and everything else stay. An event that had no
 * such comment gets one: an edit decision list has no other place for a file.
 *
 * @param mediaOf the new file of the event of a number; undefined if it keeps the old one
 */
export function relinkEdl(
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
