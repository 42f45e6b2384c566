import { basename, extname } from 'node:path'
import { isDropFrame } from '../../../src/pipeline/plan/timecode.js'
import { FoundClips } from '../found-clips.js'
import { nameOfPath } from '../media-path.js'
import { frameRate } from '../time/frame-rate.js'
import { timecodeTime } from '../time/media-clock.js'
import { add, compare, type Rational, subtract } from '../time/rational.js'
import type { TimeRange } from '../time/time-range.js'
import type { ClipUse, RelinkedMedia, Timeline, TimelineSource } from '../timeline.js'
import { TimelineSyntaxError } from '../timeline-error.js'
import { type AleRow, type AleTable, cellOf, parseAle } from './ale-table.js'

/** Columns that name a file, in the order in which they are looked at. Programs differ in how they call them. */
const FILE_COLUMNS = ['sourcefilepath', 'sourcefile', 'sourcefilename', 'filepath', 'filename', 'unc']
const ROLL_COLUMNS = ['soundroll', 'tape', 'name']

/**
 * Reads an Avid Log Exchange: each row is a clip that is heard from its start to its end, on the timecode of its file.
 * A row with a sound roll and its timecode is heard from there.
 *
 * @throws {TimelineSyntaxError}
 */
export function readAle(text: string): Timeline {
  const table = parseAle(text)
  const rate = rateOf(table)
  const found = new FoundClips()
  const rows = table.rows.flatMap((row) => {
    const clip = cellOf(table, row, 'name')
    const [source, range] = [sourceOf(table, row), rangeOf(table, row, rate)]
    const subject = clip || `Line ${row.line + 1}`
    if (!range) found.left('unread', subject, 'has no start and end that can be read')
    else if (!source) found.left('missing-reference', subject, 'names no file and no roll')
    else {
      const dropFrame = isDropFrame(cellOf(table, row, hasOwnSound(table, row) ? 'soundtc' : 'start'))
      found.use(source, clip, [range], dropFrame)
      return found.uses.slice(-1).map((use) => ({ row, use }))
    }
    return []
  })
  return found.timeline((media, regenerated) =>
    relinkAle(table, regenerated ? rows.filter(({ use }) => regenerated.has(use)) : rows, media),
  )
}

/** Frames a second: as the heading says, or as its television standard has. */
function rateOf({ heading }: AleTable): Rational {
  const standard = { NTSC: '29.97', PAL: '25' }[heading.get('VIDEO_FORMAT')?.toUpperCase() ?? '']
  const rate = frameRate(heading.get('FPS') ?? standard ?? '')
  if (!rate) throw new TimelineSyntaxError('its heading does not state its frame rate (FPS)')
  return rate
}

/** The file of a row, or its roll; undefined for a row that names neither. */
function sourceOf(table: AleTable, row: AleTable['rows'][number]): TimelineSource | undefined {
  const cells = (columns: readonly string[]) =>
    columns.map((key) => cellOf(table, row, key)).filter((cell) => cell !== '')
  const names = hasOwnSound(table, row) ? cells(['soundroll']) : [...cells(FILE_COLUMNS), ...cells(ROLL_COLUMNS)]
  const [first] = names
  if (first === undefined) return undefined
  const name = nameOfPath(first)
  return { id: names.join('\n'), name, paths: names, origin: null }
}

/** True for a row whose sound was recorded apart, on a timecode of its own. */
function hasOwnSound(table: AleTable, row: AleTable['rows'][number]): boolean {
  return cellOf(table, row, 'soundroll') !== '' && cellOf(table, row, 'soundtc') !== ''
}

function rangeOf(table: AleTable, row: AleTable['rows'][number], rate: Rational): TimeRange | undefined {
  const time = (key: string) => timecodeTime(cellOf(table, row, key), rate)
  const [start, duration] = [time('start'), time('duration')]
  const end = time('end') ?? (start && duration && add(start, duration))
  if (!start || !end || compare(start, end) >= 0) return undefined
  if (!hasOwnSound(table, row)) return { start, end }
  const sound = time('soundtc')
  return sound && { start: sound, end: add(sound, subtract(end, start)) }
}

/** Columns whose cells name a file. Tapes and names of clips stay: their timecode is found by them. */
const NAMING = ['sourcefilepath', 'sourcefile', 'sourcefilename', 'filepath', 'filename', 'unc', 'soundroll']
const [FILE_COLUMN, FILE_KEY] = ['Source File', 'sourcefile']

/**
 * Writes the log with other names in the cells that name a file which was regenerated. A file that was found by its tape
 * or by the name of its clip has no such cell. The column *Source File* then names it, and is added if it is missing.
 */
function relinkAle(
  table: AleTable,
  rows: readonly { readonly row: AleRow; readonly use: ClipUse }[],
  media: ReadonlyMap<string, RelinkedMedia>,
): string {
  const lines = [...table.lines]
  const unnamed: { readonly row: AleRow; readonly made: RelinkedMedia }[] = []
  for (const { row, use } of rows) {
    const made = media.get(use.sourceId)
    if (!made) continue
    const keys = NAMING.filter((key) => table.columns.has(key) && isNameOf(cellOf(table, row, key), made.original))
    if (keys.length === 0) unnamed.push({ row, made })
    for (const key of keys)
      setCell(lines, row.line, table.columns.get(key) ?? 0, nameLike(cellOf(table, row, key), made))
  }
  if (unnamed.length === 0) return lines.join('')
  const column = table.columns.get(FILE_KEY) ?? addColumn(lines, table)
  for (const { row, made } of unnamed) setCell(lines, row.line, column, basename(made.path))
  return lines.join('')
}

/** Tells whether a cell is the name of a file, its path, or its name without the extension. */
function isNameOf(cell: string, path: string): boolean {
  const [name, file] = [nameOfPath(cell), basename(path)].map((one) => one.normalize('NFC').toLowerCase())
  return name !== '' && (name === file || name === file?.slice(0, file.length - extname(file).length))
}

/** A path becomes a path, and a name a name. */
function nameLike(cell: string, { path }: RelinkedMedia): string {
  return /[\\/]/.test(cell) ? path : basename(path)
}

/** @returns its index */
function addColumn(lines: string[], { columnLine }: AleTable): number {
  const names = bodyOf(lines[columnLine] ?? '').split('\t')
  // Some programs end each line with a tab.
  const column = names.at(-1) === '' ? names.length - 1 : names.length
  setCell(lines, columnLine, column, FILE_COLUMN)
  return column
}

/** Replaces one cell of a line. A line that ends before it is filled up with empty cells. */
function setCell(lines: string[], line: number, column: number, text: string): void {
  const body = bodyOf(lines[line] ?? '')
  const cells = body.split('\t')
  while (cells.length <= column) cells.push('')
  cells[column] = text
  lines[line] = cells.join('\t') + (lines[line] ?? '').slice(body.length)
}

function bodyOf(line: string): string {
  return line.replace(/[\r\n]+$/, '')
}
