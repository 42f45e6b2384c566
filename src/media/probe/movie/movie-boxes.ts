import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { type NearReader, nearReader } from '../near-reader.js'
import { parseHeader } from './parse-boxes.js'

/** A box of an mp4 or mov, with the position of its header and of its content. */
export interface MovieBox {
  readonly type: string
  readonly startAt: number
  readonly bodyAt: number
  readonly endAt: number
}

/** The head of a table of sizes, which states their count. Nothing else of it is of interest. */
const SIZES_HEAD_BYTES = 12
/** A larger table does not occur in a sane file. */
const MAX_TABLE_BYTES = 32 * 1024 * 1024
/** Boxes that can start a movie. Other bytes mean another format. */
const FIRST_BOXES = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot'])
const WANTED: Readonly<Record<string, readonly string[]>> = {
  '': ['moov'],
  moov: ['mvhd', 'trak', 'mvex'],
  trak: ['tkhd', 'edts', 'mdia', 'udta'],
  edts: ['elst'],
  mdia: ['mdhd', 'hdlr', 'minf'],
  minf: ['stbl'],
  stbl: ['stsd', 'stts', 'ctts', 'stsz'],
}

/** The index tables of an mp4 or mov that time and name its tracks, wherever the index is. Empty for any other file. */
export async function* movieTables(
  file: FileHandle,
  sizeBytes: number,
): AsyncGenerator<{ readonly box: MovieBox; readonly track: number }> {
  const read = nearReader(file)
  const first = await boxAt(read, 0, sizeBytes)
  if (first && FIRST_BOXES.has(first.type))
    yield* tables(read, { type: '', startAt: 0, bodyAt: 0, endAt: sizeBytes }, 0)
}

async function* tables(
  read: NearReader,
  within: MovieBox,
  track: number,
): AsyncGenerator<{ readonly box: MovieBox; readonly track: number }> {
  const wanted = WANTED[within.type] ?? []
  let place = track
  for (let at = within.bodyAt; at + 8 <= within.endAt; ) {
    const box = await boxAt(read, at, within.endAt)
    if (!box) return
    if (wanted.includes(box.type)) {
      if (box.type in WANTED) yield* tables(read, box, place)
      else yield { box, track: place }
      if (box.type === 'trak') place += 1
    }
    at = box.endAt
  }
}

/** The boxes of a file, in file order, from the one at an offset on. */
export async function* fileBoxes(file: FileHandle, sizeBytes: number, from = 0): AsyncGenerator<MovieBox> {
  const read = nearReader(file)
  for (let at = from; at + 8 <= sizeBytes; ) {
    const box = await boxAt(read, at, sizeBytes)
    if (!box) return
    yield box
    at = box.endAt
  }
}

async function boxAt(read: NearReader, at: number, limit: number): Promise<MovieBox | undefined> {
  const header = parseHeader(await read(at, 16))
  const size = header?.length ?? limit - at
  if (!header || size < header.headerBytes) return undefined
  return { type: header.type, startAt: at, bodyAt: at + header.headerBytes, endAt: Math.min(at + size, limit) }
}

/** The content of a table; only the head of `stsz`. */
export function tableBody(file: FileHandle, { type, bodyAt, endAt }: MovieBox): Promise<Buffer> {
  return readAt(file, bodyAt, Math.min(endAt - bodyAt, type === 'stsz' ? SIZES_HEAD_BYTES : MAX_TABLE_BYTES))
}
