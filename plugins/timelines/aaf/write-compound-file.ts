import {
  type CompoundEntry,
  type CompoundFile,
  ENTRY_BYTES,
  HEADER_TABLE,
  MINI_BYTES,
  MINI_LIMIT,
} from './compound-file.js'

const [END_OF_CHAIN, FREE, TABLE, TABLE_OF_TABLES] = [0xfffffffe, 0xffffffff, 0xfffffffd, 0xfffffffc]

/**
 * Writes a compound file with other contents of some streams. The directory keeps its entries, their order, tree,
 * classes and times, and all other streams their bytes. Each stream gets sectors in one piece.
 */
export function writeCompoundFile(
  { header, sectorBytes, entries }: CompoundFile,
  contents: ReadonlyMap<CompoundEntry, Buffer>,
): Buffer {
  const layout = new Layout(sectorBytes)
  const mini = new Layout(MINI_BYTES)
  const placed = entries.map((entry) => {
    const raw = Buffer.from(entry.raw)
    if (entry.kind !== 'stream') return raw
    const content = contents.get(entry) ?? entry.content
    const start = (content.length < MINI_LIMIT ? mini : layout).add(content)
    return withPlace(raw, start, content.length)
  })
  const [root = Buffer.alloc(ENTRY_BYTES)] = placed
  const miniStream = mini.bytes()
  withPlace(root, layout.add(miniStream), miniStream.length)
  const miniTable = numbers(mini.table)
  const miniTableStart = layout.add(miniTable, FREE)
  const directory = Buffer.concat(placed)
  const directoryStart = layout.add(directory)
  const tables = layout.close()

  const first = Buffer.alloc(sectorBytes)
  header.copy(first)
  const isLarge = sectorBytes > 512
  first.writeUInt32LE(isLarge ? Math.ceil(directory.length / sectorBytes) : 0, 40)
  first.writeUInt32LE(tables.table.length, 44)
  first.writeUInt32LE(directoryStart, 48)
  first.writeUInt32LE(miniTableStart, 60)
  first.writeUInt32LE(Math.ceil(miniTable.length / sectorBytes), 64)
  first.writeUInt32LE(tables.more[0] ?? END_OF_CHAIN, 68)
  first.writeUInt32LE(tables.more.length, 72)
  for (let index = 0; index < HEADER_TABLE; index++) first.writeUInt32LE(tables.table[index] ?? FREE, 76 + index * 4)
  return Buffer.concat([first, layout.bytes()])
}

function withPlace(raw: Buffer, start: number, size: number): Buffer {
  raw.writeUInt32LE(start, 116)
  raw.writeBigUInt64LE(BigInt(size), 120)
  return raw
}

/** Streams one after the other, each in sectors of its own, and the table of their chains. */
class Layout {
  readonly table: number[] = []
  readonly #sectorBytes: number
  readonly #parts: Buffer[] = []

  constructor(sectorBytes: number) {
    this.#sectorBytes = sectorBytes
  }

  /** @returns its first sector; the end of a chain for nothing */
  add(content: Buffer, padding = 0): number {
    if (content.length === 0) return END_OF_CHAIN
    const start = this.table.length
    const count = Math.ceil(content.length / this.#sectorBytes)
    this.#parts.push(content, Buffer.alloc(count * this.#sectorBytes - content.length, padding & 0xff))
    for (let index = 1; index < count; index++) this.table.push(start + index)
    this.table.push(END_OF_CHAIN)
    return start
  }

  /** Adds the table itself. Numbers of its sectors that do not fit into the header stand in sectors of their own. */
  close(): { readonly table: readonly number[]; readonly more: readonly number[] } {
    const perSector = this.#sectorBytes / 4
    const used = this.table.length
    let [tableCount, moreCount] = [0, 0]
    for (let isStable = false; !isStable; ) {
      const needed = Math.ceil((used + tableCount + moreCount) / perSector)
      const more = Math.ceil(Math.max(0, needed - HEADER_TABLE) / (perSector - 1))
      isStable = needed === tableCount && more === moreCount
      tableCount = needed
      moreCount = more
    }
    const sectors = Array.from({ length: tableCount }, (_, index) => used + index)
    const more = Array.from({ length: moreCount }, (_, index) => used + tableCount + index)
    this.table.push(...sectors.map(() => TABLE), ...more.map(() => TABLE_OF_TABLES))
    const full = [...this.table, ...Array.from({ length: tableCount * perSector - this.table.length }, () => FREE)]
    this.#parts.push(numbers(full))
    for (const [index] of more.entries()) {
      const own = sectors.slice(HEADER_TABLE + index * (perSector - 1), HEADER_TABLE + (index + 1) * (perSector - 1))
      const empty = Array.from({ length: perSector - 1 - own.length }, () => FREE)
      this.#parts.push(numbers([...own, ...empty, more[index + 1] ?? END_OF_CHAIN]))
    }
    return { table: sectors, more }
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts)
  }
}

function numbers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, index * 4)
  return bytes
}
