import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { type NearReader, nearReader } from '../../probe/near-reader.js'
import { evenPlaces, type StatedPlace } from './stated-place.js'

const MAX_INDEX_BYTES = 64 * 1024 ** 2
/** Chunks of a file that are looked through for indices. */
const MOST_CHUNKS = 20_000
/** Kinds of chunks whose entries are read. */
const MOST_IDS = 100
const HEAD_BYTES = 8
/** Bytes of an entry of `idx1`: id, flags, place and size of a chunk. */
const ENTRY_BYTES = 16
const KEY_FLAG = 0x10
const ENTRIES_AT = 24
/** Entries that are read of an index of OpenDML, of which a long film has hundreds. */
const MOST_LISTED = 8
const MOST_LISTED_BYTES = ENTRIES_AT + 12 * MOST_LISTED
/** The highest bit of a size marks a chunk that needs others. */
const SIZE_BITS = 0x7fff_ffff

const PACKET = /^\d\d/

/** A chunk that an index states. */
interface Stated {
  readonly id: string
  readonly at: number
  readonly bytes: number
  /** Marks a picture that players may seek to. */
  readonly isKey?: boolean
}

/**
 * Reads where the entries of `idx1` and of the indices of OpenDML lead.
 *
 * @param replaced streams with new packets, by their place among those of sound
 */
export async function aviPlaces(file: FileHandle, replaced: ReadonlySet<number>): Promise<readonly StatedPlace[]> {
  const { size: sizeBytes } = await file.stat()
  const near = nearReader(file)
  const places: StatedPlace[] = []
  let streams: readonly Stream[] = []
  const old = new Map<string, readonly Stated[]>()
  let movi = 0
  for (let at = 0, count = 0; at + HEAD_BYTES <= sizeBytes && count < MOST_CHUNKS; count++) {
    const head = await near(at, HEAD_BYTES + 4)
    const [id, bytes, list] = [idAt(head, 0), head.readUInt32LE(4), idAt(head, 8)]
    const body = () => readAt(file, at + HEAD_BYTES, Math.min(bytes, MAX_INDEX_BYTES))
    if (id === 'LIST' && list === 'hdrl') streams = streamsOf(await body(), replaced)
    if (id === 'LIST' && list === 'movi') movi = at + HEAD_BYTES
    if (id === 'idx1') {
      for (const [chunk, entries] of await oldEntries(near, await body(), movi)) {
        old.set(chunk, [...(old.get(chunk) ?? []), ...entries])
      }
    }
    at += id === 'RIFF' ? HEAD_BYTES + 4 : HEAD_BYTES + bytes + (bytes % 2)
  }
  for (const [id, entries] of old) {
    places.push(...(await oldPlaces(near, id, entries, streams[Number(id.slice(0, 2))]?.isNew ?? false)))
  }
  for (const [number, { index, isNew }] of streams.entries()) {
    if (index) places.push(...(await openDmlPlaces(near, index, { number, isNew })))
  }
  return places
}

interface Stream {
  readonly isNew: boolean
  /** Body of `indx`. */
  readonly index: Buffer | null
}

function streamsOf(hdrl: Buffer, replaced: ReadonlySet<number>): readonly Stream[] {
  let sounds = 0
  return chunksIn(hdrl, 4).flatMap(({ id, body }) => {
    if (id !== 'LIST' || idAt(body, 0) !== 'strl') return []
    const parts = new Map(chunksIn(body, 4).map((part) => [part.id, part.body]))
    const isSound = idAt(parts.get('strh') ?? body, 0) === 'auds'
    return [{ isNew: isSound && replaced.has(sounds++), index: parts.get('indx') ?? null }]
  })
}

function chunksIn(bytes: Buffer, from: number) {
  const chunks: { readonly id: string; readonly body: Buffer }[] = []
  for (let at = from; at + HEAD_BYTES <= bytes.length; ) {
    const end = at + HEAD_BYTES + bytes.readUInt32LE(at + 4)
    chunks.push({ id: idAt(bytes, at), body: bytes.subarray(at + HEAD_BYTES, end) })
    at = end + (end % 2 === at % 2 ? 0 : 1)
  }
  return chunks
}

/** Some entries of each id in an `idx1`. They count from the start of the file, or from the list of media. */
async function oldEntries(
  near: NearReader,
  body: Buffer,
  movi: number,
): Promise<ReadonlyMap<string, readonly Stated[]>> {
  const entries = evenEntries(body)
  let fromStart = 0
  const firstOf = (own: typeof entries) => own.flatMap(([, stated]) => stated.slice(0, MOST_LISTED))
  const packets = firstOf(entries.filter(([id]) => PACKET.test(id)))
  // A part may have lost its only packet, and keeps the entries of its indices.
  const first = packets.length > 0 ? packets : firstOf(entries)
  for (const entry of first) fromStart += (await isThere(near, entry)) ? 1 : 0
  const base = 2 * fromStart > first.length ? 0 : movi
  return new Map(entries.map(([id, own]) => [id, own.map((entry) => ({ ...entry, at: base + entry.at }))]))
}

/** Some entries of each id. A film has hundreds of thousands, so the others become no objects. */
function evenEntries(body: Buffer): readonly (readonly [id: string, entries: readonly Stated[]])[] {
  const offsets = new Map<string, number[]>()
  for (let at = 0; at + ENTRY_BYTES <= body.length; at += ENTRY_BYTES) {
    const id = idAt(body, at)
    const own = offsets.get(id)
    if (own) own.push(at)
    else if (offsets.size < MOST_IDS) offsets.set(id, [at])
  }
  return [...offsets].map(([id, own]) => [
    id,
    evenPlaces(own.length).map((place) => {
      const at = own[place] as number
      const isKey = (body.readUInt32LE(at + 4) & KEY_FLAG) !== 0
      return { id, at: body.readUInt32LE(at + 8), bytes: body.readUInt32LE(at + 12), isKey }
    }),
  ])
}

async function oldPlaces(near: NearReader, id: string, entries: readonly Stated[], isNew: boolean) {
  const by = `the places in idx1 of ${JSON.stringify(id)}`
  const found: StatedPlace[] = []
  for (const entry of entries) {
    // Lists and indices may grow.
    const what = PACKET.test(id) ? `${entry.bytes} bytes${entry.isKey ? ', key' : ''}` : ''
    found.push({ by, leadsTo: (await isThere(near, entry)) ? what : null })
  }
  return isNew ? inOne(by, found) : found
}

/** New packets are of another number and length. */
function inOne(by: string, found: readonly StatedPlace[]): readonly StatedPlace[] {
  return [{ by, leadsTo: found.every(({ leadsTo }) => leadsTo !== null) ? '' : null }]
}

async function openDmlPlaces(
  near: NearReader,
  index: Buffer,
  { number, isNew }: { readonly number: number; readonly isNew: boolean },
): Promise<readonly StatedPlace[]> {
  const by = `the places in indx of stream ${number}`
  const found: StatedPlace[] = []
  const add = async (chunks: readonly Stated[]) => {
    for (const chunk of chunks)
      found.push({ by, leadsTo: (await isThere(near, chunk)) ? `${chunk.bytes} bytes` : null })
  }
  if (index.readUInt8(3) === 1) await add(statedIn(index))
  else {
    for (const row of evenPlaces(rowsIn(index, 16))) {
      const at = Number(index.readBigUInt64LE(ENTRIES_AT + 16 * row))
      const head = await near(at, HEAD_BYTES + ENTRIES_AT)
      const isIndex = head.length === HEAD_BYTES + ENTRIES_AT && /^(ix|\d\dix)/.test(idAt(head, 0))
      if (!isIndex) found.push({ by, leadsTo: null })
      else await add(statedIn(await near(at + HEAD_BYTES, Math.min(head.readUInt32LE(4), MOST_LISTED_BYTES))))
    }
  }
  return isNew ? inOne(by, found) : found
}

/** Rows of an index that are in use. */
function rowsIn(index: Buffer, rowBytes: number): number {
  return Math.min(index.readUInt32LE(4), Math.floor((index.length - ENTRIES_AT) / rowBytes))
}

/** Chunks that an index of chunks states, at most 8 of the first ones. */
function statedIn(index: Buffer): readonly Stated[] {
  const entryBytes = Math.max(8, 4 * index.readUInt16LE(0))
  const [id, base] = [idAt(index, 8), Number(index.readBigUInt64LE(12))]
  return evenPlaces(Math.min(rowsIn(index, entryBytes), MOST_LISTED)).map((row) => {
    const at = ENTRIES_AT + row * entryBytes
    const bytes = index.readUInt32LE(at + 4) & SIZE_BITS
    return { id, at: base + index.readUInt32LE(at) - HEAD_BYTES, bytes }
  })
}

/** True if the head of the stated chunk lies at its place. */
async function isThere(near: NearReader, { id, at, bytes }: Stated): Promise<boolean> {
  if (at < 0) return false
  const head = await near(at, HEAD_BYTES)
  if (head.length < HEAD_BYTES) return false
  return id === 'rec ' ? idAt(head, 0) === 'LIST' : idAt(head, 0) === id && head.readUInt32LE(4) === bytes
}

function idAt(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + 4)
}
