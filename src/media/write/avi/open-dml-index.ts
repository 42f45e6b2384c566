import { MalformedFile } from '../../probe/malformed-file.js'

/** An index of OpenDML: in the headers of a stream (`indx`) or in its media (`ix00`). Offsets in the file. */
export interface OpenDmlIndex {
  /** `chunks`: the places of chunks. `indices`: the places of such indices. */
  readonly kind: 'chunks' | 'indices'
  /** First byte of its head. */
  readonly start: number
  readonly body: Buffer
  /** Id of the chunks that it lists: `01wb`. */
  readonly id: string
  /** Entries in use; others may follow. */
  readonly count: number
  readonly entryBytes: number
  /** Offset that those of chunks count from. */
  readonly base: number
}

/** Places in an index, and in the entries of either kind. */
const AT = { entryWords: 0, type: 3, count: 4, id: 8, base: 12, entries: 24 }
const IN_CHUNKS = { place: 0, size: 4, secondField: 8 }
const IN_INDICES = { place: 0, size: 8, units: 12, bytes: 16 }
const TYPE_CHUNKS = 1
/** Marks a chunk that needs others: the highest bit of its size. */
const NO_KEY = 0x8000_0000
const HIGHEST = 0xffff_ffff

/** Parses an index. @throws MalformedFile for a kind that voxmux cannot write */
export function parseOpenDmlIndex(start: number, body: Buffer): OpenDmlIndex {
  const unknown = new MalformedFile(`its index at byte ${start} has a form that voxmux does not know`)
  if (body.length < AT.entries) throw unknown
  const [words, type, count] = [body.readUInt16LE(AT.entryWords), body.readUInt8(AT.type), body.readUInt32LE(AT.count)]
  const entryBytes = 4 * words
  if (AT.entries + entryBytes * count > body.length) throw unknown
  if (type === 0 ? entryBytes !== IN_INDICES.bytes : type !== TYPE_CHUNKS || (words !== 2 && words !== 3)) throw unknown
  const base = body.readBigUInt64LE(AT.base)
  if (type === TYPE_CHUNKS && base > Number.MAX_SAFE_INTEGER) throw unknown
  const id = body.toString('latin1', AT.id, AT.id + 4)
  const kind = type === TYPE_CHUNKS ? 'chunks' : 'indices'
  return { kind, start, body, id, count, entryBytes, base: kind === 'chunks' ? Number(base) : 0 }
}

/** An entry of an index of chunks. */
export interface ChunkEntry {
  /** First byte of the head of its chunk. */
  readonly start: number
  readonly bytes: number
}

/** The chunks that an index lists. */
export function* chunkEntries({ body, count, entryBytes, base }: OpenDmlIndex): Generator<ChunkEntry> {
  for (let row = 0; row < count; row++) {
    const at = AT.entries + row * entryBytes
    const bytes = body.readUInt32LE(at + IN_CHUNKS.size)
    yield { start: base + body.readUInt32LE(at + IN_CHUNKS.place) - 8, bytes: bytes % NO_KEY }
  }
}

/** The heads of the indices that another lists. */
export function* indexEntries({ body, count }: OpenDmlIndex): Generator<{ readonly start: number }> {
  for (let row = 0; row < count; row++) {
    yield { start: Number(body.readBigUInt64LE(AT.entries + row * IN_INDICES.bytes)) }
  }
}

/** An index with other entries for the same chunks. @param base that they count from @param mapped offsets in the output */
export function movedIndex(index: OpenDmlIndex, base: number, mapped: (offset: number) => number): Buffer {
  const made = Buffer.from(index.body)
  made.writeBigUInt64LE(BigInt(base), AT.base)
  let at = AT.entries
  for (const { start } of chunkEntries(index)) {
    const moved = mapped(start) + 8 - base
    const old = made.readUInt32LE(at + IN_CHUNKS.place)
    made.writeUInt32LE(moved, at + IN_CHUNKS.place)
    // The second field of a picture lies inside its chunk.
    const isField = index.entryBytes > IN_CHUNKS.secondField
    const second = isField ? made.readUInt32LE(at + IN_CHUNKS.secondField) : 0
    if (second > 0) made.writeUInt32LE(moved + second - old, at + IN_CHUNKS.secondField)
    at += index.entryBytes
  }
  return made
}

/** Bytes of an index with another number of chunks. Unused entries stay. */
export function indexLength({ body, count, entryBytes }: OpenDmlIndex, packets: number): number {
  return body.length + entryBytes * (packets - count)
}

/** An index of new chunks in the place of the old ones. */
export function filledIndex(index: OpenDmlIndex, base: number, packets: readonly ChunkEntry[]): Buffer {
  const { body, count, entryBytes } = index
  const made = Buffer.alloc(indexLength(index, packets.length))
  body.copy(made, 0, 0, AT.entries)
  made.writeUInt32LE(packets.length, AT.count)
  made.writeBigUInt64LE(BigInt(base), AT.base)
  let at = AT.entries
  for (const { start, bytes } of packets) {
    made.writeUInt32LE(start + 8 - base, at + IN_CHUNKS.place)
    made.writeUInt32LE(bytes, at + IN_CHUNKS.size)
    at += entryBytes
  }
  body.copy(made, at, AT.entries + entryBytes * count)
  return made
}

/** New facts about an index that another lists. */
export interface ListedIndex {
  /** Its head in the output. */
  readonly start: number
  /** Bytes that it has more than before. */
  readonly growth: number
  /** Length of its chunks in units of the stream's clock; null if they stay. */
  readonly units: number | null
}

/** A list of indices with their new places and lengths. */
export function listedIndices(index: OpenDmlIndex, listed: (start: number) => ListedIndex): Buffer {
  const made = Buffer.from(index.body)
  let at = AT.entries
  for (const { start } of indexEntries(index)) {
    const { growth, units, ...place } = listed(start)
    made.writeBigUInt64LE(BigInt(place.start), at + IN_INDICES.place)
    made.writeUInt32LE(made.readUInt32LE(at + IN_INDICES.size) + growth, at + IN_INDICES.size)
    // Some writers state no length.
    const states = units !== null && made.readUInt32LE(at + IN_INDICES.units) > 0
    if (states) made.writeUInt32LE(Math.min(units, HIGHEST), at + IN_INDICES.units)
    at += IN_INDICES.bytes
  }
  return made
}
