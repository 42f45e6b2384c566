import { MalformedFile } from '../../../probe/malformed-file.js'
import { type Box, bodyOf, endOf } from '../../../probe/movie/box.js'
import type { Movie } from '../read/movie.js'
import type { NewTrack } from './new-track.js'
import type { OffsetTable, Replacements } from './sheet.js'

/** Content of `sidx`: the segments of the bytes after it. */
interface SegmentIndex {
  readonly trackId: number
  readonly timeScale: number
  readonly isLong: boolean
  /** First byte of each segment, and the end of the last. */
  readonly bounds: readonly number[]
  /** Place of the first segment's row in the box. */
  readonly rowsAt: number
}

/** Reads `sidx`. Throws MalformedFile if it is shorter than its header states. */
function readSegmentIndex(box: Box): SegmentIndex {
  const body = bodyOf(box)
  const isLong = body[0] === 1
  const rowsAt = isLong ? 32 : 24
  if (body.length < rowsAt) throw new MalformedFile('sidx is shorter than the standard requires')
  const count = body.readUInt16BE(rowsAt - 2)
  if (body.length < rowsAt + 12 * count) throw new MalformedFile('sidx is shorter than its header states')
  const first = isLong ? Number(body.readBigUInt64BE(20)) : body.readUInt32BE(16)
  const bounds = [endOf(box) + first]
  for (let row = 0; row < count; row++) {
    bounds.push((bounds[row] as number) + (body.readUInt32BE(rowsAt + 12 * row) & 0x7fff_ffff))
  }
  return {
    ...{ isLong, bounds },
    trackId: body.readUInt32BE(4),
    timeScale: body.readUInt32BE(8),
    rowsAt: box.headerBytes + rowsAt,
  }
}

/** Makes `sidx` with the new sizes of its segments. A replaced track also gets new times. */
export function segmentIndex(box: Box, into: Replacements): OffsetTable {
  const bytes = Buffer.from(box.bytes ?? Buffer.alloc(0))
  const index = readSegmentIndex(box)
  into.set(box, [bytes])
  return {
    box,
    fill: (sheet) => {
      const { bounds, isLong, rowsAt } = index
      const starts = bounds.map((bound) => sheet.boxStart(bound) ?? bound)
      const own = (sheet.boxStart(box.start) ?? box.start) + box.length
      const first = (starts[0] as number) - own
      const head = box.headerBytes
      if (isLong) bytes.writeBigUInt64BE(BigInt(first), head + 20)
      else bytes.writeUInt32BE(first, head + 16)
      for (let row = 0; row + 1 < starts.length; row++) {
        const size = (starts[row + 1] as number) - (starts[row] as number)
        const kind = bytes.readUInt32BE(rowsAt + 12 * row) & 0x8000_0000
        bytes.writeUInt32BE((kind | size) >>> 0, rowsAt + 12 * row)
      }
      const track = sheet.tracks.find(({ old }) => old.track.id === index.trackId)
      if (track) writeTimes(bytes, head, index, track)
      return true
    },
  }
}

/** Segments of the new audio begin up to one packet earlier or later than the old ones. */
function writeTimes(bytes: Buffer, head: number, { bounds, isLong, rowsAt, timeScale }: SegmentIndex, track: NewTrack) {
  const { runs } = track.old
  const moves = bounds.slice(0, -1).map((bound, row) => {
    const place = runs.firstFrom(bound)
    const moofStart = runs.moofStart(place)
    if (moofStart === undefined || moofStart >= (bounds[row + 1] as number)) return 0
    return track.tickOf(track.deals.at(place).from) - track.shiftTicks - runs.startTick(place)
  })
  const endMove = track.tickOf(track.donor.packets.count) - track.shiftTicks - runs.endTick
  const scaled = (ticks: number) => Math.round((ticks * timeScale) / track.timeScale)
  const firstMove = scaled(moves[0] ?? 0)
  if (isLong)
    bytes.writeBigUInt64BE(BigInt(Math.max(0, Number(bytes.readBigUInt64BE(head + 12)) + firstMove)), head + 12)
  else bytes.writeUInt32BE(Math.max(0, bytes.readUInt32BE(head + 12) + firstMove), head + 12)
  for (const [row, move] of moves.entries()) {
    const at = rowsAt + 12 * row + 4
    const longer = scaled(moves[row + 1] ?? endMove) - scaled(move)
    bytes.writeUInt32BE(Math.max(0, bytes.readUInt32BE(at) + longer), at)
  }
}

/** Makes `tfra` with the new places of fragments. A replaced track also gets new times. */
export function randomAccess(box: Box, movie: Movie, into: Replacements): OffsetTable {
  const bytes = Buffer.from(box.bytes ?? Buffer.alloc(0))
  into.set(box, [bytes])
  const head = box.headerBytes
  const isLong = bytes[head] === 1
  const trackId = bytes.readUInt32BE(head + 4)
  const sizes = bytes.readUInt32BE(head + 8)
  const widths = [((sizes >> 4) & 3) + 1, ((sizes >> 2) & 3) + 1, (sizes & 3) + 1] as const
  const numbers = widths[0] + widths[1] + widths[2]
  const count = bytes.readUInt32BE(head + 12)
  const place = movie.tracks.findIndex(({ id }) => id === trackId)
  return {
    box,
    fill: (sheet) => {
      const track = sheet.tracks.find(({ old }) => old.track === movie.tracks[place])
      const width = isLong ? 16 : 8
      for (let row = 0, at = head + 16; row < count && at + width + numbers <= bytes.length; row++) {
        const old = isLong ? Number(bytes.readBigUInt64BE(at + 8)) : bytes.readUInt32BE(at + 4)
        const time = track && firstTickAt(track, old)
        writeNumber(bytes, at + width / 2, width / 2, sheet.boxStart(old) ?? old)
        if (time !== undefined) {
          writeNumber(bytes, at, width / 2, time)
          writeNumber(bytes, at + width + widths[0], widths[1], 1)
          writeNumber(bytes, at + width + widths[0] + widths[1], widths[2], 1)
        }
        at += width + numbers
      }
      return true
    },
  }
}

function firstTickAt({ old, deals, tickOf }: NewTrack, moofStart: number): number | undefined {
  const place = old.runs.firstFrom(moofStart)
  return old.runs.moofStart(place) === moofStart ? tickOf(deals.at(place).from) : undefined
}

function writeNumber(bytes: Buffer, at: number, width: number, value: number): void {
  if (width === 8) bytes.writeBigUInt64BE(BigInt(value), at)
  else bytes.writeUIntBE(value, at, width)
}

/** True if every segment of an index begins at a box. */
export function isIndexOfBoxes(box: Box, starts: ReadonlySet<number>): boolean {
  return readSegmentIndex(box).bounds.every((bound) => starts.has(bound))
}
