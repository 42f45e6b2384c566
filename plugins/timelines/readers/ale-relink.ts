import { basename, extname } from 'node:path'
import { nameOfPath } from '../media-path.js'
import type { ClipUse, RelinkedMedia } from '../timeline.js'
import { type AleRow, type AleTable, cellOf } from './ale-table.js'

/** Columns whose cells name a file. Tapes and names of clips stay: their timecode is found by them. */
const NAMING = ['sourcefilepath', 'sourcefile', 'sourcefilename', 'filepath', 'filename', 'unc', 'soundroll']
const [FILE_COLUMN, FILE_KEY] = ['Source File', 'sourcefile']

/**
 * Writes the log with other names in the cells that name a file which was regenerated. A file that was found by its tape
 * or by the name of its clip has no such cell. The column *Source File* then names it, and is added if it is missing.
 */
export function relinkAle(
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
