import { parseTime } from '../core/time.js'
import type { Segment } from './segments.js'

/**
 * Reads a marker file: Audacity labels (`start⇥end⇥name`) or CSV (`start,end[,name]`, `;` as well, a heading is
 * passed over). Times as in `--segment`; an end that is missing leaves the part open.
 *
 * @throws {SyntaxError} with the line that cannot be read; where there is none at all
 */
export function readMarkers(text: string): Segment[] {
  const segments: Segment[] = []
  let isFirst = true
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)
    .entries()) {
    // Lines that begin with a backslash are Audacity's frequency ranges of the label before.
    if (line.trim() === '' || line.startsWith('\\') || line.startsWith('#')) continue
    const [start = '', end = ''] = fieldsOf(line)
    const startSec = parseTime(start)
    const endSec = end === '' ? null : parseTime(end)
    const isHeading = isFirst && startSec === undefined && endSec === undefined
    isFirst = false
    if (isHeading) continue
    if (startSec === undefined || endSec === undefined) throw new SyntaxError(`line ${index + 1} is no start and end`)
    if (endSec !== null && endSec <= startSec)
      throw new SyntaxError(`line ${index + 1} marks no part: it has no length`)
    segments.push({ startSec, endSec })
  }
  if (segments.length === 0) throw new SyntaxError('it marks no part')
  return segments
}

function fieldsOf(line: string): readonly string[] {
  const separator = line.includes('\t') ? '\t' : line.includes(';') ? ';' : ','
  return line.split(separator).map((field) => field.trim().replace(/^"(.*)"$/, '$1'))
}
