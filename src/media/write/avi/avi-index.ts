import type { PacketRange } from '../deal-packets.js'
import { firstAtLeast } from '../first-at-least.js'
import type { AviPart } from './avi-file.js'
import { type MovieData, type SoundChunks, soundId } from './movie-data.js'

/** An entry of `idx1`: id, flags, place and size of a chunk. */
const ENTRY_BYTES = 16
const AT = { flags: 4, place: 8, size: 12 }

/** A stream whose chunks change. */
export interface ChangedStream {
  readonly number: number
  readonly chunks: SoundChunks
}

/** The chunks of a stream in a part: the first one, and the one behind the last. */
export function placesIn({ movi }: AviPart, { chunks }: Pick<ChangedStream, 'chunks'>): PacketRange {
  const placeAt = (offset: number) => firstAtLeast(chunks.count, chunks.start, offset)
  return { from: placeAt(movi.start), to: placeAt(movi.end) }
}

/** Offset from which the `idx1` of a part counts: the start of the file, or the list of media. Undefined if it fits neither. */
export function indexBase({ index, movi }: AviPart, changed: readonly ChangedStream[]): number | undefined {
  const entries = index?.entries ?? Buffer.alloc(0)
  const bases = [0, movi.bodyStart]
  const streams = new Map(changed.map((stream) => [soundId(stream.number), stream]))
  for (let at = 0; at + ENTRY_BYTES <= entries.length; at += ENTRY_BYTES) {
    const stream = streams.get(entries.toString('latin1', at, at + 4))
    if (!stream) continue
    const first = firstAtLeast(stream.chunks.count, stream.chunks.start, movi.start)
    if (first === stream.chunks.count) return undefined
    return bases.find((base) => base === stream.chunks.start(first) - entries.readUInt32LE(at + AT.place))
  }
  // The part lists none of these chunks.
  const first = movi.bodyStart + 4
  return bases.find((base) => entries.length < ENTRY_BYTES || base + entries.readUInt32LE(AT.place) === first)
}

/** True if voxmux can rewrite the `idx1` of a part. */
export function fitsIndex(part: AviPart, data: MovieData, changed: readonly ChangedStream[]): boolean {
  if (!part.index) return true
  const { entries } = part.index
  const base = indexBase(part, changed)
  if (base === undefined) return false
  const records = new Set(data.records.map(({ start }) => start))
  const next = new Map<string, { readonly chunks: SoundChunks; left: PacketRange }>(
    changed.map((stream) => [soundId(stream.number), { chunks: stream.chunks, left: placesIn(part, stream) }]),
  )
  for (let at = 0; at + ENTRY_BYTES <= entries.length; at += ENTRY_BYTES) {
    const id = entries.toString('latin1', at, at + 4)
    const start = base + entries.readUInt32LE(at + AT.place)
    const stream = next.get(id)
    if (id === 'rec ' ? !records.has(start) : start >= part.movi.end) return false
    if (!stream && changed.some(({ chunks }) => liesIn(chunks, start))) return false
    if (!stream) continue
    const { from, to } = stream.left
    if (from >= to || stream.chunks.start(from) !== start) return false
    stream.left = { from: from + 1, to }
  }
  return [...next.values()].every(({ left }) => left.from === left.to)
}

/** True if a byte lies in a chunk. */
export function liesIn(chunks: SoundChunks, at: number): boolean {
  const place = firstAtLeast(chunks.count, chunks.end, at + 1)
  return place < chunks.count && chunks.start(place) <= at
}

/** Places in the output that a new index states. */
interface NewPlaces {
  /** Offset of a byte of the input that is kept. */
  readonly mapped: (inputOffset: number) => number
  /** New packets in the place of an old one, their offsets and sizes; undefined for a stream that stays. */
  readonly packetsAt: (id: string, place: number) => PacketRange | undefined
  readonly packet: (id: string, packet: number) => { readonly start: number; readonly bytes: number }
  /** The first chunk of a stream in this part. */
  readonly firstPlace: (id: string) => number
  /** Bytes of a list (`rec `) or an index by its start in the input; undefined for any other chunk. */
  readonly headBytes: (inputOffset: number) => number | undefined
}

/** The entries of an index with those of new packets in place of the old ones. Flags stay. @param length of all, in bytes */
export function newIndex({ index, movi }: AviPart, base: number, length: number, places: NewPlaces): Buffer {
  const entries = index?.entries ?? Buffer.alloc(0)
  const newBase = base === 0 ? 0 : places.mapped(movi.bodyStart)
  const made = Buffer.alloc(length)
  const next = new Map<string, number>()
  let to = 0
  const add = (entry: Buffer, start: number, bytes: number) => {
    entry.copy(made, to)
    made.writeUInt32LE(start - newBase, to + AT.place)
    made.writeUInt32LE(bytes, to + AT.size)
    to += ENTRY_BYTES
  }
  for (let at = 0; at + ENTRY_BYTES <= entries.length; at += ENTRY_BYTES) {
    const entry = entries.subarray(at, at + ENTRY_BYTES)
    const id = entry.toString('latin1', 0, 4)
    const place = next.get(id) ?? places.firstPlace(id)
    next.set(id, place + 1)
    const range = places.packetsAt(id, place)
    if (!range) {
      const start = base + entry.readUInt32LE(AT.place)
      add(entry, places.mapped(start), places.headBytes(start) ?? entry.readUInt32LE(AT.size))
      continue
    }
    for (let packet = range.from; packet < range.to; packet++) {
      const { start, bytes } = places.packet(id, packet)
      add(entry, start, bytes)
    }
  }
  // The rest of an index that was cut off.
  entries.copy(made, to, entries.length - (entries.length % ENTRY_BYTES))
  return made
}

/** Bytes of the entries with some packets more or fewer. */
export function indexBytes({ index }: AviPart, added: number): number {
  return (index?.entries.length ?? 0) + ENTRY_BYTES * added
}
