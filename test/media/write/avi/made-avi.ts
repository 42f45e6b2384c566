/** A chunk of an AVI; a list has a type and children. */
export interface MadeChunk {
  readonly id: string
  readonly body: Buffer
  readonly children?: readonly MadeChunk[]
}

/** Bytes of a chunk with its padding. */
export function chunkBytes({ id, body, children }: MadeChunk): Buffer {
  const content = children ? Buffer.concat([Buffer.from(id, 'latin1'), ...children.map(chunkBytes)]) : body
  const head = Buffer.alloc(8)
  head.write(children ? 'LIST' : id, 'latin1')
  head.writeUInt32LE(content.length, 4)
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)])
}

/** A list of that type. */
export function list(id: string, children: readonly MadeChunk[]): MadeChunk {
  return { id, body: Buffer.alloc(0), children }
}

/** Header and coding of a stream whose packets last `scale / rate` seconds each. */
export function streamList(kind: 'auds' | 'vids', rate: number, coding: Buffer, others: readonly MadeChunk[]) {
  const header = Buffer.alloc(56)
  header.write(kind, 'latin1')
  header.writeUInt32LE(1, 20)
  header.writeUInt32LE(rate, 24)
  return list('strl', [{ id: 'strh', body: header }, { id: 'strf', body: coding }, ...others])
}

/** An AVI of its chunks, with an index of all packets in `movi` that counts from the list or from the file; or with none. */
export function aviFile(
  chunks: readonly MadeChunk[],
  { indexFrom, trailing }: { readonly indexFrom: 'list' | 'file' | null; readonly trailing: Buffer },
): Buffer {
  const fileOf = (all: readonly MadeChunk[]) => {
    const body = Buffer.concat([Buffer.from('AVI '), ...all.map(chunkBytes)])
    const head = Buffer.alloc(8)
    head.write('RIFF', 'latin1')
    head.writeUInt32LE(body.length, 4)
    return Buffer.concat([head, body])
  }
  const plain = fileOf(chunks)
  if (indexFrom === null) return Buffer.concat([plain, trailing])
  const found = readAvi(plain)
  const from = indexFrom === 'file' ? 0 : found.moviAt
  const index = found.packets.map(({ id, at, size }) => {
    const entry = Buffer.alloc(16)
    entry.write(id, 'latin1')
    entry.writeUInt32LE(0x10, 4)
    entry.writeUInt32LE(at - from, 8)
    entry.writeUInt32LE(size, 12)
    return entry
  })
  return Buffer.concat([fileOf([...chunks, { id: 'idx1', body: Buffer.concat(index) }]), trailing])
}

/** A file as this reader sees it. It shares no code with the writer. */
interface ReadAvi {
  /** Chunks and lists outside the index, as `path id` with their bodies; lists have none. */
  readonly chunks: readonly { readonly path: string; readonly body: Buffer | null }[]
  /** Chunks and lists in `movi`: place of the head, and size. */
  readonly packets: readonly { readonly id: string; readonly at: number; readonly size: number }[]
  /** Place of the type of the list of media. */
  readonly moviAt: number
  readonly index: Buffer | null
  readonly end: number
}

/** Reads a file. Throws if a chunk exceeds its list. */
export function readAvi(file: Buffer): ReadAvi {
  const chunks: { path: string; body: Buffer | null }[] = []
  const packets: { id: string; at: number; size: number }[] = []
  let moviAt = 0
  let index: Buffer | null = null
  const walk = (from: number, end: number, path: string) => {
    for (let at = from; at + 8 <= end; ) {
      const [name, size] = [file.toString('latin1', at, at + 4), file.readUInt32LE(at + 4)]
      if (at + 8 + size > end) throw new Error(`${name} at ${at} exceeds its list`)
      const type = name === 'LIST' ? file.toString('latin1', at + 8, at + 12) : null
      const inside = `${path}/${type ?? name}`
      if (type === 'movi') moviAt = at + 8
      if (path.startsWith('/movi')) packets.push({ id: type ?? name, at, size })
      if (name === 'idx1') index = file.subarray(at + 8, at + 8 + size)
      else chunks.push({ path: inside, body: type ? null : file.subarray(at + 8, at + 8 + size) })
      if (type) walk(at + 12, at + 8 + size, inside)
      at += 8 + size + (size % 2)
    }
  }
  const end = 8 + file.readUInt32LE(4)
  walk(12, end, '')
  return { chunks, packets, moviAt, index, end }
}
