import { readUintBE, writeUintBE } from '../../../number-bytes.js'
import { MalformedFile } from '../../../probe/malformed-file.js'
import { type Box, bodyOf, endOf } from '../../../probe/movie/box.js'
import type { Movie } from '../read/movie.js'
import type { NewIsoTrack } from './new-iso-track.js'
import { copiedBox, type OffsetTable, type Replacements } from './sheet.js'

/** Content of `sidx`: the segments of the bytes after it. */
interface SegmentIndex {
  readonly trackId: number
  readonly timeScale: number
  /** Bytes of its times and of its first offset. */
  readonly width: 4 | 8
  /** First byte of each segment, and the end of the last. */
  readonly bounds: readonly number[]
  /** Place of the first segment's row in the box. */
  readonly rowsAt: number
}

/** Reads `sidx`. Throws MalformedFile if it is shorter than its header states. */
function readSegmentIndex(box: Box): SegmentIndex {
  const body = bodyOf(box)
  const width = body[0] === 1 ? 8 : 4
  const rowsAt = 16 + 2 * width
  if (body.length < rowsAt) throw new MalformedFile('sidx is shorter than the standard requires')
  const count = body.readUInt16BE(rowsAt - 2)
  if (body.length < rowsAt + 12 * count) throw new MalformedFile('sidx is shorter than its header states')
  const bounds = [endOf(box) + readUintBE(body, 12 + width, width)]
  for (let row = 0; row < count; row++) {
    bounds.push((bounds[row] as number) + (body.readUInt32BE(rowsAt + 12 * row) & 0x7fff_ffff))
  }
  return {
    ...{ width, bounds },
    trackId: body.readUInt32BE(4),
    timeScale: body.readUInt32BE(8),
    rowsAt: box.headerBytes + rowsAt,
  }
}

/** Makes `sidx` with the new sizes of its segments. A replaced track also gets new times. */
export function segmentIndex(box: Box, into: Replacements): OffsetTable {
  const index = readSegmentIndex(box)
  const bytes = copiedBox(box, into)
  return {
    box,
    fill: (sheet) => {
      const { bounds, width, rowsAt } = index
      const starts = bounds.map((bound) => sheet.boxStart(bound) ?? bound)
      const own = (sheet.boxStart(box.start) ?? box.start) + box.length
      const timeAt = box.headerBytes + 12
      writeUintBE(bytes, (starts[0] as number) - own, timeAt + width, width)
      for (let row = 0; row + 1 < starts.length; row++) {
        const size = (starts[row + 1] as number) - (starts[row] as number)
        const kind = bytes.readUInt32BE(rowsAt + 12 * row) & 0x8000_0000
        bytes.writeUInt32BE((kind | size) >>> 0, rowsAt + 12 * row)
      }
      const track = sheet.tracks.find(({ old }) => old.track.id === index.trackId)
      if (track) writeTimes(bytes, timeAt, index, track)
      return true
    },
  }
}

/** Segments of the new audio begin up to one packet earlier or later than the old ones. */
function writeTimes(
  bytes: Buffer,
  timeAt: number,
  { bounds, width, rowsAt, timeScale }: SegmentIndex,
  track: NewIsoTrack,
) {
  const { runs } = track.old
  const moves = bounds.slice(0, -1).map((bound, row) => {
    const place = runs.firstFrom(bound)
    const moofStart = runs.moofStart(place)
    if (moofStart === undefined || moofStart >= (bounds[row + 1] as number)) return 0
    return track.tickOf(track.deals.at(place).from) - track.shiftTicks - runs.startTick(place)
  })
  const endMove = track.tickOf(track.donor.packets.count) - track.shiftTicks - runs.endTick
  const scaled = (ticks: number) => Math.round((ticks * timeScale) / track.timeScale)
  const firstTick = Math.max(0, readUintBE(bytes, timeAt, width) + scaled(moves[0] ?? 0))
  writeUintBE(bytes, firstTick, timeAt, width)
  for (const [row, move] of moves.entries()) {
    const at = rowsAt + 12 * row + 4
    const longer = scaled(moves[row + 1] ?? endMove) - scaled(move)
    bytes.writeUInt32BE(Math.max(0, bytes.readUInt32BE(at) + longer), at)
  }
}

/** Makes `tfra` with the new places of fragments. A replaced track also gets new times. */
export function randomAccess(box: Box, movie: Movie, into: Replacements): OffsetTable {
  const bytes = copiedBox(box, into)
  const head = box.headerBytes
  const width = bytes[head] === 1 ? 8 : 4
  const trackId = bytes.readUInt32BE(head + 4)
  const sizes = bytes.readUInt32BE(head + 8)
  const [fragmentBytes, runBytes, sampleBytes] = [
    ((sizes >> 4) & 3) + 1,
    ((sizes >> 2) & 3) + 1,
    (sizes & 3) + 1,
  ] as const
  const rowBytes = 2 * width + fragmentBytes + runBytes + sampleBytes
  const count = bytes.readUInt32BE(head + 12)
  const place = movie.tracks.findIndex(({ id }) => id === trackId)
  return {
    box,
    fill: (sheet) => {
      const track = sheet.tracks.find(({ old }) => old.track === movie.tracks[place])
      for (let row = 0, at = head + 16; row < count && at + rowBytes <= bytes.length; row++, at += rowBytes) {
        const old = readUintBE(bytes, at + width, width)
        const time = track && firstTickAt(track, old)
        writeUintBE(bytes, sheet.boxStart(old) ?? old, at + width, width)
        if (time === undefined) continue
        const runAt = at + 2 * width + fragmentBytes
        writeUintBE(bytes, time, at, width)
        writeUintBE(bytes, 1, runAt, runBytes)
        writeUintBE(bytes, 1, runAt + runBytes, sampleBytes)
      }
      return true
    },
  }
}

function firstTickAt({ old, deals, tickOf }: NewIsoTrack, moofStart: number): number | undefined {
  const place = old.runs.firstFrom(moofStart)
  return old.runs.moofStart(place) === moofStart ? tickOf(deals.at(place).from) : undefined
}

/** True if every segment of an index begins at a box. */
export function isIndexOfBoxes(box: Box, starts: ReadonlySet<number>): boolean {
  return readSegmentIndex(box).bounds.every((bound) => starts.has(bound))
}
