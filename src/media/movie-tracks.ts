import type { FileHandle } from 'node:fs/promises'

/** One entry of a track's edit list. */
export interface Edit {
  /** In ticks of the movie. */
  readonly duration: bigint
  /** In ticks of the track; -1: nothing is shown. */
  readonly mediaTime: bigint
  readonly rate: number
}

/** What an mp4 or mov says of the times of a track. */
export interface MovieTrack {
  /** `vide`, `soun`, `text`, … */
  readonly handler: string
  readonly ticksPerSec: number
  readonly movieTicksPerSec: number
  readonly edits: readonly Edit[]
  /** Runs of samples of one length, in decoding order; empty where they stand in fragments. */
  readonly runs: readonly { readonly count: number; readonly ticks: number }[]
  /** By how many ticks the first sample is shown after it is decoded; null where samples are shown as they come. */
  readonly firstShift: number | null
}

interface Box {
  readonly type: string
  readonly bodyAt: number
  readonly endAt: number
}

/** More than that of a table is no table of any sane file. */
const MAX_TABLE_BYTES = 32 * 1024 * 1024
/** What a movie may begin with; elsewhere the bytes mean something else. */
const FIRST_BOXES = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot'])
const WANTED: Readonly<Record<string, readonly string[]>> = {
  '': ['moov'],
  moov: ['mvhd', 'trak'],
  trak: ['edts', 'mdia'],
  edts: ['elst'],
  mdia: ['mdhd', 'hdlr', 'minf'],
  minf: ['stbl'],
  stbl: ['stts', 'ctts'],
}

/** Reads the tracks of an mp4 or mov from its index, wherever it lies; none of any other file. */
export async function movieTracks(file: FileHandle, sizeBytes: number): Promise<readonly MovieTrack[]> {
  const first = await boxAt(file, 0, sizeBytes)
  if (!first || !FIRST_BOXES.has(first.type)) return []
  const tracks: Map<string, Buffer>[] = []
  let movieHead: Buffer = Buffer.alloc(0)
  for await (const { box, track } of leaves(file, { type: '', bodyAt: 0, endAt: sizeBytes }, 0)) {
    const body = await bodyOf(file, box)
    if (box.type === 'mvhd') movieHead = body
    else {
      tracks[track] ??= new Map()
      tracks[track].set(box.type, body)
    }
  }
  return [...tracks.values()].flatMap((tables) => (tables ? [trackOf(tables, ticksOf(movieHead))] : []))
}

async function* leaves(
  file: FileHandle,
  within: Box,
  track: number,
): AsyncGenerator<{ readonly box: Box; readonly track: number }> {
  const wanted = WANTED[within.type] ?? []
  let place = track
  for (let at = within.bodyAt; at + 8 <= within.endAt; ) {
    const box = await boxAt(file, at, within.endAt)
    if (!box) return
    if (wanted.includes(box.type)) {
      if (box.type in WANTED) yield* leaves(file, box, place)
      else yield { box, track: place }
      if (box.type === 'trak') place += 1
    }
    at = box.endAt
  }
}

async function boxAt(file: FileHandle, at: number, limit: number): Promise<Box | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, at)
  if (bytesRead < 8) return undefined
  const short = buffer.readUInt32BE(0)
  // 0: to the end of what it lies in; 1: the size follows as 64 bits.
  const size = short === 0 ? limit - at : short === 1 && bytesRead === 16 ? Number(buffer.readBigUInt64BE(8)) : short
  const headBytes = short === 1 ? 16 : 8
  if (size < headBytes) return undefined
  return { type: buffer.toString('latin1', 4, 8), bodyAt: at + headBytes, endAt: Math.min(at + size, limit) }
}

async function bodyOf(file: FileHandle, { bodyAt, endAt }: Box): Promise<Buffer> {
  const length = Math.min(endAt - bodyAt, MAX_TABLE_BYTES)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, bodyAt)
  return buffer.subarray(0, bytesRead)
}

function trackOf(tables: ReadonlyMap<string, Buffer>, movieTicksPerSec: number): MovieTrack {
  const shifts = entries(tables.get('ctts'), 8)
  return {
    handler: tables.get('hdlr')?.toString('latin1', 8, 12) ?? '',
    ticksPerSec: ticksOf(tables.get('mdhd')),
    movieTicksPerSec,
    edits: editsOf(tables.get('elst')),
    runs: entries(tables.get('stts'), 8).map((entry) => ({
      count: entry.readUInt32BE(0),
      ticks: entry.readUInt32BE(4),
    })),
    firstShift: shifts[0]?.readInt32BE(4) ?? null,
  }
}

/** Of a movie's or a track's head: behind two times of 4 or 8 bytes, and (of a movie) nothing else. */
function ticksOf(head: Buffer | undefined): number {
  const at = head?.[0] === 1 ? 20 : 12
  return head && head.length >= at + 4 ? head.readUInt32BE(at) : 0
}

function editsOf(list: Buffer | undefined): readonly Edit[] {
  const long = list?.[0] === 1
  return entries(list, long ? 20 : 12).map((entry) =>
    long
      ? {
          duration: entry.readBigUInt64BE(0),
          mediaTime: entry.readBigInt64BE(8),
          rate: entry.readInt32BE(16) / 65_536,
        }
      : {
          duration: BigInt(entry.readUInt32BE(0)),
          mediaTime: BigInt(entry.readInt32BE(4)),
          rate: entry.readInt32BE(8) / 65_536,
        },
  )
}

/** The rows of a table: version, flags, how many, and the rows. */
function entries(table: Buffer | undefined, rowBytes: number): readonly Buffer[] {
  if (!table || table.length < 8) return []
  const count = Math.min(table.readUInt32BE(4), Math.floor((table.length - 8) / rowBytes))
  return Array.from({ length: count }, (_, row) => table.subarray(8 + row * rowBytes, 8 + (row + 1) * rowBytes))
}
