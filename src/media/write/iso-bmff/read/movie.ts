import { type Box, bodyOf, childAt, childBoxes } from '../../../probe/movie/box.js'
import { type Edit, readEdits } from '../../../probe/movie/edits.js'
import { numberAfterTimes } from '../../../probe/movie/movie-tracks.js'
import { type SampleEntry, sampleEntries } from './sample-entry.js'

/** Facts of a movie's index. */
export interface Movie {
  readonly box: Box
  /** Ticks per second of the movie's clock. */
  readonly timeScale: number
  readonly durationTicks: number
  readonly tracks: readonly Track[]
}

export interface Track {
  readonly box: Box
  readonly id: number
  /** `soun`, `vide`, `hint`, … */
  readonly handler: string
  /** Ticks per second of the track's clock. */
  readonly timeScale: number
  /** In ticks of the movie, from `tkhd`. */
  readonly durationTicks: number
  readonly edits: readonly Edit[]
  readonly entries: readonly SampleEntry[]
  /** By place of the data reference. */
  readonly dataReferences: readonly DataReference[]
  readonly stbl: Box | undefined
}

/** The file that holds the samples: this one, one that QuickTime finds by an alias, or one that an address names. */
export type DataReference = 'here' | 'alias' | 'address'

/** True if samples of a track lie in this file. A track without data references has them here, as players take it. */
export function liesHere({ dataReferences }: Track): boolean {
  return dataReferences.length === 0 || dataReferences.includes('here')
}

/** Reads the movie out of `moov`. */
export function readMovie(moov: Box): Movie {
  const head = bodyOf(childAt(moov, 'mvhd'))
  return {
    box: moov,
    timeScale: numberAfterTimes(head),
    durationTicks: durationAt(head, DURATION_IN_HEAD),
    tracks: childBoxes(moov, 'trak').map(readTrack),
  }
}

function readTrack(box: Box): Track {
  const head = bodyOf(childAt(box, 'tkhd'))
  const stbl = childAt(box, 'mdia', 'minf', 'stbl')
  return {
    box,
    id: numberAfterTimes(head),
    handler: bodyOf(childAt(box, 'mdia', 'hdlr')).toString('latin1', 8, 12),
    timeScale: numberAfterTimes(bodyOf(childAt(box, 'mdia', 'mdhd'))),
    durationTicks: durationAt(head, DURATION_IN_TRACK),
    edits: readEdits(bodyOf(childAt(box, 'edts', 'elst'))),
    entries: sampleEntries(childAt(stbl, 'stsd')),
    dataReferences: dataReferences(childAt(box, 'mdia', 'minf', 'dinf', 'dref')),
    stbl,
  }
}

/** Place of the duration in the content of `mvhd` and `mdhd`, by version. */
const DURATION_IN_HEAD = [16, 24] as const
/** Place of the duration in the content of `tkhd`, by version. */
const DURATION_IN_TRACK = [20, 28] as const

function durationAt(head: Buffer, places: readonly [number, number]): number {
  const [short, long] = places
  if (head[0] !== 1) return head.length >= short + 4 ? head.readUInt32BE(short) : 0
  return head.length >= long + 8 ? Number(head.readBigUInt64BE(long)) : 0
}

/** A copy of `mvhd`, `mdhd` or `tkhd` with another duration, in ticks. */
export function withDuration(box: Box, ticks: number): Buffer {
  const bytes = Buffer.from(box.bytes ?? Buffer.alloc(0))
  const body = bytes.subarray(box.headerBytes)
  const [short, long] = box.type === 'tkhd' ? DURATION_IN_TRACK : DURATION_IN_HEAD
  if (body[0] === 1) body.writeBigUInt64BE(BigInt(ticks), long)
  else body.writeUInt32BE(Math.min(ticks, 0xffff_ffff), short)
  return bytes
}

/** A copy of `mdhd` with another duration and time scale. */
export function withClock(mdhd: Box, ticks: number, timeScale: number): Buffer {
  const bytes = withDuration(mdhd, ticks)
  bytes.writeUInt32BE(timeScale, mdhd.headerBytes + (bytes[mdhd.headerBytes] === 1 ? 20 : 12))
  return bytes
}

/** Bytes of the shortest alias, with the head of its box. A shorter one names no file: ffmpeg reads this one then. */
const SHORTEST_ALIAS = 151

/** Entries of `dref`. Those with the lowest flag set lie in this file, and so do those that name no other. */
function dataReferences(dref: Box | undefined): readonly DataReference[] {
  const body = bodyOf(dref)
  const found: DataReference[] = []
  for (let at = 8; at + 12 <= body.length; at += Math.max(12, body.readUInt32BE(at))) {
    const entry = body.subarray(at, at + body.readUInt32BE(at))
    const isAlias = entry.toString('latin1', 4, 8) === 'alis'
    const isNamed = entry.subarray(12).some((byte) => byte !== 0) && !(isAlias && entry.length < SHORTEST_ALIAS)
    const isHere = (body.readUInt32BE(at + 8) & 1) === 1 || !isNamed
    found.push(isHere ? 'here' : isAlias ? 'alias' : 'address')
  }
  return found
}
