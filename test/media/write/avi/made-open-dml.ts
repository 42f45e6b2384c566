import { chunkBytes, list, type MadeChunk } from './made-avi.js'

/** Packets of a part with the indices of each stream that follow them. Lists `rec ` join some of them. */
export type Batch = readonly MadeChunk[]

/** An AVI of several parts (OpenDML). */
export interface MadeOpenDml {
  /** Ids of the chunks that have an index, in the order of their streams. */
  readonly streams: readonly string[]
  /** Chunks of the headers and those before the packets, of the first part. */
  readonly headers: readonly MadeChunk[]
  readonly before: readonly MadeChunk[]
  readonly parts: readonly (readonly Batch[])[]
  /** Where an index counts from. */
  readonly base: 'list' | 'file' | 'packet'
  /** Indices in the media and a list of them in the headers, or one index in the headers. */
  readonly form: 'super' | 'standard'
  /** Parts with an index of the older form. */
  readonly oldIndices: 'none' | 'first' | 'all'
  readonly oldFrom: 'list' | 'file'
  /** Unused entries in an index. */
  readonly spare: number
  /** Chunks behind the packets of each part, and bytes behind the last. */
  readonly behind: readonly MadeChunk[]
  readonly trailing: number
}

/** A chunk or a list where it lies. */
export interface FoundChunk {
  readonly path: string
  readonly at: number
  readonly size: number
  /** Number of its part. */
  readonly part: number
}

const isPacket = ({ path }: FoundChunk) => /\/movi(\/rec )?\/\d\d\w\w$/.test(path)
const idOf = ({ path }: FoundChunk) => path.slice(-4)

/** Every chunk of a file, in order. Throws if one exceeds its list. */
export function readParts(file: Buffer): { readonly chunks: readonly FoundChunk[]; readonly end: number } {
  const chunks: FoundChunk[] = []
  const walk = (from: number, end: number, path: string, part: number) => {
    for (let at = from; at + 8 <= end; ) {
      const [name, size] = [file.toString('latin1', at, at + 4), file.readUInt32LE(at + 4)]
      if (at + 8 + size > end) throw new Error(`${name} at ${at} exceeds its list`)
      const type = name === 'LIST' ? file.toString('latin1', at + 8, at + 12) : null
      chunks.push({ path: `${path}/${type ?? name}`, at, size, part })
      if (type) walk(at + 12, at + 8 + size, `${path}/${type}`, part)
      at += 8 + size + (size % 2)
    }
  }
  let at = 0
  for (let part = 0; file.toString('latin1', at, at + 4) === 'RIFF'; part++) {
    const size = file.readUInt32LE(at + 4)
    chunks.push({ path: file.toString('latin1', at + 8, at + 12), at, size, part })
    walk(at + 12, at + 8 + size, '', part)
    at += 8 + size
  }
  return { chunks, end: at }
}

function riff(type: string, chunks: readonly MadeChunk[]): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), ...chunks.map(chunkBytes)])
  const head = Buffer.alloc(8)
  head.write('RIFF', 'latin1')
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body])
}

const flat = (chunks: readonly MadeChunk[]): readonly MadeChunk[] =>
  chunks.flatMap((chunk) => (chunk.children ? [chunk, ...flat(chunk.children)] : [chunk]))
const countOf = (chunks: readonly MadeChunk[], id: string) => flat(chunks).filter((chunk) => chunk.id === id).length

/** The bytes of a film. Its indices are made from the places that its packets turned out to have. */
export function openDmlFile(film: MadeOpenDml): Buffer {
  const { streams, headers, before, parts, form, oldIndices, spare, behind, trailing } = film
  const batches = parts.flat()
  const room = (entries: number, each: number) => Buffer.alloc(24 + each * (entries + spare))
  const all = batches.flat()
  const entries = (id: string) => (form === 'super' ? room(batches.length, 16) : room(countOf(all, id), 8))
  let stream = 0
  const withIndex = (chunk: MadeChunk): MadeChunk => {
    if (chunk.id !== 'strl') return chunk
    const id = streams[stream++] ?? ''
    const others = chunk.children ?? []
    return id ? list('strl', [...others.slice(0, 2), { id: 'indx', body: entries(id) }, ...others.slice(2)]) : chunk
  }
  const indices = (batch: Batch) =>
    form === 'standard' ? [] : streams.map((id) => ({ id: `ix${id.slice(0, 2)}`, body: room(countOf(batch, id), 8) }))
  const files = parts.map((own, part) => {
    const movi = list(
      'movi',
      own.flatMap((batch) => [...batch, ...indices(batch)]),
    )
    const packets = flat(own.flat()).length + (form === 'super' ? own.length * streams.length : 0)
    const old = oldIndices === 'all' || (oldIndices === 'first' && part === 0)
    const idx1 = old ? [{ id: 'idx1', body: Buffer.alloc(16 * packets) }] : []
    const start = part === 0 ? [list('hdrl', headers.map(withIndex)), ...before] : []
    return riff(part === 0 ? 'AVI ' : 'AVIX', [...start, movi, ...behind, ...idx1])
  })
  const file = Buffer.concat([...files, Buffer.alloc(trailing, 1)])
  fillIndices(file, film)
  return file
}

function fillIndices(file: Buffer, { streams, base, form, oldFrom }: MadeOpenDml): void {
  const { chunks } = readParts(file)
  const lists = new Map(chunks.filter(({ path }) => path === '/movi').map(({ part, at }) => [part, at]))
  const fill = (at: number, id: string, packets: readonly FoundChunk[]) => {
    const [first] = packets
    const from = { file: 0, list: lists.get(first?.part ?? 0) ?? 0, packet: first?.at ?? 0 }[base]
    file.writeUInt16LE(2, at)
    file.writeUInt8(1, at + 3)
    file.writeUInt32LE(packets.length, at + 4)
    file.write(id, at + 8, 'latin1')
    file.writeBigUInt64LE(BigInt(from), at + 12)
    for (const [row, packet] of packets.entries()) {
      file.writeUInt32LE(packet.at + 8 - from, at + 24 + 8 * row)
      // Every second packet is marked as one that needs others.
      file.writeUInt32LE(packet.size + (row % 2) * 0x8000_0000, at + 28 + 8 * row)
    }
  }
  const waiting = new Map<string, FoundChunk[]>(streams.map((id) => [id, []]))
  const written = new Map<string, { at: number; size: number; packets: number }[]>(streams.map((id) => [id, []]))
  for (const chunk of chunks) {
    if (isPacket(chunk)) waiting.get(idOf(chunk))?.push(chunk)
    const id = streams.find((known) => chunk.path === `/movi/ix${known.slice(0, 2)}`)
    if (!id) continue
    const packets = waiting.get(id)?.splice(0) ?? []
    fill(chunk.at + 8, id, packets)
    written.get(id)?.push({ at: chunk.at, size: chunk.size + 8, packets: packets.length })
  }
  for (const [place, chunk] of chunks.filter(({ path }) => path === '/hdrl/strl/indx').entries()) {
    const [at, id] = [chunk.at + 8, streams[place] ?? '']
    if (form === 'standard') {
      fill(at, id, waiting.get(id) ?? [])
      continue
    }
    const rows = written.get(id) ?? []
    file.writeUInt16LE(4, at)
    file.writeUInt32LE(rows.length, at + 4)
    file.write(id, at + 8, 'latin1')
    for (const [row, entry] of rows.entries()) {
      file.writeBigUInt64LE(BigInt(entry.at), at + 24 + 16 * row)
      file.writeUInt32LE(entry.size, at + 32 + 16 * row)
      file.writeUInt32LE(entry.packets, at + 36 + 16 * row)
    }
  }
  for (const chunk of chunks.filter(({ path }) => path === '/idx1')) {
    const own = chunks.filter(({ part, path }) => part === chunk.part && path.startsWith('/movi/'))
    const from = oldFrom === 'file' ? 0 : (lists.get(chunk.part) ?? 0) + 8
    for (const [row, entry] of own.entries()) {
      const at = chunk.at + 8 + 16 * row
      file.write(idOf(entry), at, 'latin1')
      file.writeUInt32LE(0x10, at + 4)
      file.writeUInt32LE(entry.at - from, at + 8)
      file.writeUInt32LE(entry.size, at + 12)
    }
  }
}

/** A film of one part as one of three, with the same streams and packets. */
export function asOpenDml(
  film: Buffer,
  form: Pick<MadeOpenDml, 'form' | 'base' | 'oldIndices' | 'oldFrom' | 'spare'>,
): Buffer {
  const childrenOf = (start: number, end: number): readonly MadeChunk[] => {
    const chunks: MadeChunk[] = []
    for (let at = start; at + 8 <= end; ) {
      const [id, size] = [film.toString('latin1', at, at + 4), film.readUInt32LE(at + 4)]
      const body = film.subarray(at + 8, at + 8 + size)
      const isList = id === 'LIST'
      const type = isList ? body.toString('latin1', 0, 4) : id
      chunks.push(isList ? list(type, childrenOf(at + 12, at + 8 + size)) : { id, body })
      at += 8 + size + (size % 2)
    }
    return chunks
  }
  const chunks = childrenOf(12, 8 + film.readUInt32LE(4))
  const inside = (id: string) => chunks.find((chunk) => chunk.id === id)?.children ?? []
  const packets = inside('movi')
  const [third, streams] = [Math.ceil(packets.length / 3), ['00dc', '01wb']]
  const parts = [0, 1, 2].map((part) => [packets.slice(part * third, (part + 1) * third)])
  const before = chunks.filter(({ id }) => !['hdrl', 'movi', 'idx1'].includes(id))
  return openDmlFile({ ...form, streams, headers: inside('hdrl'), before, parts, behind: [], trailing: 0 })
}

/** What the indices of a file state, read without the knowledge of how it was made. */
export function readIndices(file: Buffer) {
  const { chunks } = readParts(file)
  const at = new Map(chunks.map((chunk) => [chunk.at, chunk]))
  const standard = (start: number) => {
    const from = Number(file.readBigUInt64LE(start + 12))
    return Array.from({ length: file.readUInt32LE(start + 4) }, (_, row) => ({
      at: from + file.readUInt32LE(start + 24 + 8 * row) - 8,
      size: file.readUInt32LE(start + 28 + 8 * row) % 0x8000_0000,
    }))
  }
  const supers = chunks
    .filter(({ path }) => path === '/hdrl/strl/indx')
    .map((chunk) => {
      const start = chunk.at + 8
      if (file.readUInt8(start + 3) === 1) return { entries: standard(start), durations: [] }
      const rows = Array.from({ length: file.readUInt32LE(start + 4) }, (_, row) => start + 24 + 16 * row)
      const entries = rows.flatMap((row) => {
        const found = at.get(Number(file.readBigUInt64LE(row)))
        if (!found?.path.startsWith('/movi/ix')) throw new Error(`no index at ${file.readBigUInt64LE(row)}`)
        if (found.size + 8 !== file.readUInt32LE(row + 8)) throw new Error(`an index of ${found.size} bytes`)
        return standard(found.at + 8)
      })
      return { entries, durations: rows.map((row) => file.readUInt32LE(row + 12)) }
    })
  const old = chunks
    .filter(({ path }) => path === '/idx1')
    .map(({ at: start, size, part }) => {
      const rows = Array.from({ length: size / 16 }, (_, row) => start + 8 + 16 * row)
      return {
        part,
        entries: rows.map((row) => ({
          id: file.toString('latin1', row, row + 4),
          at: file.readUInt32LE(row + 8),
          size: file.readUInt32LE(row + 12),
        })),
      }
    })
  return { supers, old }
}
