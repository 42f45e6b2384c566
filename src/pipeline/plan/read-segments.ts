import { resolve } from 'node:path'
import { UsageError } from '../../core/errors.js'
import { readNamedFile } from '../../core/read-plain-file.js'
import { parseTime } from '../../core/time.js'
import { unreadableFile } from '../../core/unreadable-file.js'
import { heardEvents, isBlack, readEdlEvents } from './edl-events.js'
import { parseSegment, type Segment } from './segments.js'

/** A larger file is not a list of parts. */
const MOST_CHARS = 16 * 1024 ** 2
const READERS = { edl: readEdl, markers: readMarkers } as const

/**
 * Reads segments as typed: everything that `parseSegment` accepts, and files with any number of segments, `edl:PATH`
 * (CMX3600) and `markers:PATH` (Audacity labels or CSV).
 *
 * @param cwd base folder of relative paths
 * @throws {UsageError} `ERR_SEGMENT_SYNTAX`, `ERR_SEGMENT_FILE`
 */
export async function readSegments(typed: readonly string[], cwd: string): Promise<readonly Segment[]> {
  const read = await Promise.all(
    typed.map(async (text) => {
      const match = /^(edl|markers):(.+)$/s.exec(text)
      if (!match) return [parseSegment(text)]
      return segmentsOfFile(match[1] as keyof typeof READERS, resolve(cwd, match[2] as string))
    }),
  )
  return read.flat()
}

async function segmentsOfFile(kind: keyof typeof READERS, path: string): Promise<readonly Segment[]> {
  try {
    const text = await readNamedFile(path)
    if (text.length > MOST_CHARS) throw new SyntaxError('it is larger than 16 MB')
    return READERS[kind](text)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw unreadableFile('ERR_SEGMENT_FILE', path, cause)
    throw new UsageError('ERR_SEGMENT_FILE', `${path} cannot be read as segments: ${cause.message}.`, {
      cause,
      input: path,
      remedies: [
        kind === 'edl'
          ? 'Use a CMX3600 list. Its record timecodes mark the parts.'
          : 'Use Audacity labels, or lines of start,end in seconds or h:mm:ss.',
      ],
    })
  }
}

/**
 * Reads the parts of a programme from the record timecodes of a CMX3600 edit decision list. Skips effects, comments,
 * black, pictures without sound and events without length.
 *
 * @throws {SyntaxError} if it has no event, and for a list of markers
 */
export function readEdl(text: string): Segment[] {
  // DaVinci Resolve writes markers as events of one frame, and their length in a line below.
  // The spaces end with their line: otherwise a row of empty lines would be looked at again from each of them.
  if (/^[^\S\r\n]*\|C:\w+ \|M:/m.test(text)) throw new SyntaxError('it is a list of markers, not of cuts')
  const segments = heardEvents(readEdlEvents(text))
    .filter((event) => event.recordIn !== event.recordOut && !isBlack(event))
    .map(({ recordIn, recordOut }) => ({ startTimecode: recordIn, endTimecode: recordOut }))
  if (segments.length === 0) throw new SyntaxError('it contains no event')
  return segments
}

/**
 * Reads a marker file: Audacity labels (`start⇥end⇥name`) or CSV (`start,end[,name]`, also with `;`, and with an
 * optional heading). Times as in `--segment`; a missing end leaves the part open.
 *
 * @throws {SyntaxError} for an unreadable line, with its number, and for a file without parts
 */
export function readMarkers(text: string): Segment[] {
  const segments: Segment[] = []
  let isFirst = true
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)
    .entries()) {
    // In Audacity, a line with a backslash holds the frequency range of the label above it.
    if (line.trim() === '' || line.startsWith('\\') || line.startsWith('#')) continue
    const [start = '', end = ''] = fieldsOf(line)
    const startSec = parseTime(start)
    const endSec = end === '' ? null : parseTime(end)
    const isHeading = isFirst && startSec === undefined && endSec === undefined
    isFirst = false
    if (isHeading) continue
    if (startSec === undefined || endSec === undefined)
      throw new SyntaxError(`line ${index + 1} is not a start and an end`)
    if (endSec !== null && endSec <= startSec) throw new SyntaxError(`line ${index + 1} marks a part without length`)
    segments.push({ startSec, endSec })
  }
  if (segments.length === 0) throw new SyntaxError('it contains no parts')
  return segments
}

function fieldsOf(line: string): readonly string[] {
  const separator = line.includes('\t') ? '\t' : line.includes(';') ? ';' : ','
  return line.split(separator).map((field) => field.trim().replace(/^"(.*)"$/, '$1'))
}
