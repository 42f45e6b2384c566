import { TimelineSyntaxError } from '../timeline-error.js'

/** An Avid Log Exchange: a heading, the names of columns, and a row for each clip. */
export interface AleTable {
  /** All lines with their endings, so that single cells can be replaced. */
  readonly lines: readonly string[]
  readonly heading: ReadonlyMap<string, string>
  /** Line of the names of the columns. */
  readonly columnLine: number
  /** Index of each column by its key; of two columns of one key, the first. */
  readonly columns: ReadonlyMap<string, number>
  readonly rows: readonly AleRow[]
}

export interface AleRow {
  readonly line: number
  readonly cells: readonly string[]
}

/** @throws {TimelineSyntaxError} if one of its three sections is missing, or if tabs do not separate its fields */
export function parseAle(text: string): AleTable {
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/)
  const headingAt = sectionLine(lines, 'heading', 0)
  const columnAt = sectionLine(lines, 'column', headingAt)
  const dataAt = sectionLine(lines, 'data', columnAt)
  const heading = headingOf(lines.slice(headingAt + 1, columnAt))
  if (!/^tabs?$/i.test(heading.get('FIELD_DELIM') ?? 'TABS'))
    throw new TimelineSyntaxError('its fields are not separated by tabs')
  const columnLine = lines.findIndex((line, index) => index > columnAt && index < dataAt && line.trim() !== '')
  if (columnLine === -1) throw new TimelineSyntaxError('it names no columns')
  const keys = cellsOf(lines[columnLine] ?? '').map(columnKey)
  const columns = new Map(keys.map((key, index) => [key, index] as const).reverse())
  const rows = lines.flatMap((line, index) =>
    index > dataAt && line.trim() !== '' ? [{ line: index, cells: cellsOf(line) }] : [],
  )
  const isBelow = lines.some((line, index) => index > columnLine && index < dataAt && line.trim() !== '')
  if (rows.length === 0 && isBelow) throw new TimelineSyntaxError('it has no rows under Data, only above it')
  return { lines, heading, columnLine, columns, rows }
}

/** The trimmed text of a row in a column; empty if either has none. */
export function cellOf({ columns }: AleTable, { cells }: AleRow, key: string): string {
  return cells[columns.get(key) ?? -1]?.trim() ?? ''
}

/** Programs write `Sound Roll`, `Soundroll` or `SOUND_ROLL`. */
function columnKey(name: string): string {
  return name.toLowerCase().replace(/[^a-z\d]/g, '')
}

function sectionLine(lines: readonly string[], name: string, from: number): number {
  const found = lines.findIndex(
    (line, index) => index >= from && line.replace('\uFEFF', '').trim().toLowerCase() === name,
  )
  if (found === -1) throw new TimelineSyntaxError(`it has no section called ${name}`)
  return found
}

/** Pairs of a key and a value: one a line, or several. */
function headingOf(lines: readonly string[]): ReadonlyMap<string, string> {
  const heading = new Map<string, string>()
  for (const line of lines) {
    const fields = cellsOf(line).map((field) => field.trim())
    for (let index = 0; index + 1 < fields.length; index += 2)
      heading.set((fields[index] ?? '').toUpperCase(), fields[index + 1] ?? '')
  }
  return heading
}

function cellsOf(line: string): readonly string[] {
  return line.replace(/[\r\n]+$/, '').split('\t')
}
