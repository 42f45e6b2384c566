import type { PacketRange } from '../deal-packets.js'
import { firstAtLeast } from '../first-at-least.js'
import type { AviFile } from './avi-file.js'
import { type SoundChunks, soundId } from './movie-data.js'

/** An entry of `idx1`: id, flags, place and size of a chunk. */
const ENTRY_BYTES = 16
const AT = { flags: 4, place: 8, size: 12 }

/** A stream whose chunks change. */
interface ChangedStream {
  readonly number: number
  readonly chunks: SoundChunks
}

/** Offset in the file from which `idx1` counts: its start, or the list of media. Undefined if its entries fit neither. */
export function indexBase({ index, movi }: AviFile, { number, chunks }: ChangedStream): number | undefined {
  const { entries } = index ?? { entries: Buffer.alloc(0) }
  for (let at = 0; at + ENTRY_BYTES <= entries.length; at += ENTRY_BYTES) {
    if (entries.toString('latin1', at, at + 4) !== soundId(number)) continue
    const base = chunks.start(0) - entries.readUInt32LE(at + AT.place)
    return base === 0 || base === movi.bodyStart ? base : undefined
  }
  return undefined
}

/** The reason why voxmux cannot rewrite the index; undefined if it can. */
export function unfitIndex(avi: AviFile, changed: readonly ChangedStream[]): string | undefined {
  const [first] = changed
  if (!avi.index || !first) return undefined
  const unfit = 'its index does not fit its packets'
  const base = indexBase(avi, first)
  if (base === undefined) return unfit
  const { entries } = avi.index
  const records = new Set(avi.data.records.map(({ start }) => start))
  const next = new Map(changed.map((stream) => [soundId(stream.number), { ...stream, place: 0 }]))
  for (let at = 0; at + ENTRY_BYTES <= entries.length; at += ENTRY_BYTES) {
    const id = entries.toString('latin1', at, at + 4)
    const start = base + entries.readUInt32LE(at + AT.place)
    const stream = next.get(id)
    if (id === 'rec ' ? !records.has(start) : start >= avi.movi.end) return unfit
    if (!stream && changed.some(({ chunks }) => liesIn(chunks, start))) return unfit
    if (!stream) continue
    if (stream.place >= stream.chunks.count || stream.chunks.start(stream.place) !== start) return unfit
    stream.place += 1
  }
  return [...next.values()].some(({ place, chunks }) => place !== chunks.count) ? unfit : undefined
}

function liesIn(chunks: SoundChunks, at: number): boolean {
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
  /** Bytes of a list (`rec `) by its start in the input. */
  readonly recordBytes: (inputOffset: number) => number
}

/** The entries of an index with those of new packets in place of the old ones. Flags stay. @param length of all, in bytes */
export function newIndex({ index, movi }: AviFile, base: number, length: number, places: NewPlaces): Buffer {
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
    const place = next.get(id) ?? 0
    next.set(id, place + 1)
    const range = places.packetsAt(id, place)
    if (!range) {
      const start = base + entry.readUInt32LE(AT.place)
      const bytes = id === 'rec ' ? places.recordBytes(start) : entry.readUInt32LE(AT.size)
      add(entry, places.mapped(start), bytes)
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

/** Bytes of the entries with `made` packets in place of `old` ones. */
export function indexBytes({ index }: AviFile, changed: readonly { readonly old: number; readonly made: number }[]) {
  const added = changed.reduce((sum, { old, made }) => sum + made - old, 0)
  return (index?.entries.length ?? 0) + ENTRY_BYTES * added
}
