import { TimelineSyntaxError } from '../timeline-error.js'

/** Compound File Binary format (MS-CFB 9.0): chains of sectors make streams, which a directory names. */
export interface CompoundFile {
  /** The first 512 bytes. */
  readonly header: Buffer
  readonly sectorBytes: number
  readonly entries: readonly CompoundEntry[]
}

/** A storage (a folder) or a stream (a file). */
export interface CompoundEntry {
  readonly name: string
  readonly kind: 'root' | 'storage' | 'stream' | 'unused'
  /** The entry as it stands in the directory. */
  readonly raw: Buffer
  /** Class of the object that a storage holds: 16 bytes. */
  readonly classId: Buffer
  /** The entries in a storage, by name. */
  readonly children: ReadonlyMap<string, CompoundEntry>
  /** Bytes of a stream. */
  readonly content: Buffer
}

const SIGNATURE = Buffer.from('d0cf11e0a1b11ae1', 'hex')
export const ENTRY_BYTES = 128
export const MINI_BYTES = 64
/** Streams that are shorter lie in the mini stream. */
export const MINI_LIMIT = 4096
/** The header has room for so many sectors of the allocation table. */
export const HEADER_TABLE = 109
/** Last regular sector or entry number; higher ones have a meaning of their own. */
const MOST_NUMBER = 0xfffffffa
const KINDS: Readonly<Record<number, CompoundEntry['kind']>> = { 1: 'storage', 2: 'stream', 5: 'root' }

/** @throws {TimelineSyntaxError} if it is damaged, or if a chain or the directory leads in a circle */
export function parseCompoundFile(file: Buffer): CompoundFile {
  if (file.length < 512 || !file.subarray(0, 8).equals(SIGNATURE)) throw damaged('it has no signature')
  const shift = file.readUInt16LE(30)
  if ((shift !== 9 && shift !== 12) || file.readUInt16LE(32) !== 6 || file.readUInt32LE(56) !== MINI_LIMIT)
    throw damaged('its sectors have sizes that are not read')
  const sectorBytes = 2 ** shift
  const sector = (number: number) => {
    const start = (number + 1) * sectorBytes
    if (start >= file.length) throw damaged('it is truncated')
    return file.subarray(start, start + sectorBytes)
  }
  const stream = streamsOf(allocationTable(file, file.length / sectorBytes, sector), sector)
  const directory = stream(file.readUInt32LE(48))
  const rawEntries = Array.from({ length: Math.floor(directory.length / ENTRY_BYTES) }, (_, index) =>
    directory.subarray(index * ENTRY_BYTES, (index + 1) * ENTRY_BYTES),
  )
  const [root] = rawEntries
  if (root?.[66] !== 5) throw damaged('it has no root')
  const miniBytes = stream(root.readUInt32LE(116), sizeOf(root, shift))
  const miniStream = streamsOf(numbersOf(stream(file.readUInt32LE(60))), (number) =>
    miniBytes.subarray(number * MINI_BYTES, (number + 1) * MINI_BYTES),
  )
  const entries = rawEntries.map((raw): BuiltEntry => {
    const kind = KINDS[raw[66] ?? 0] ?? 'unused'
    const [start, size] = [raw.readUInt32LE(116), sizeOf(raw, shift)]
    const content = kind === 'stream' ? (size < MINI_LIMIT ? miniStream : stream)(start, size) : Buffer.alloc(0)
    return { name: nameOf(raw), kind, raw, classId: raw.subarray(80, 96), content, children: new Map() }
  })
  linkChildren(entries)
  return { header: file.subarray(0, 512), sectorBytes, entries }
}

type BuiltEntry = Omit<CompoundEntry, 'children'> & { readonly children: Map<string, CompoundEntry> }

/** Siblings are a binary tree; each entry belongs to one storage. */
function linkChildren(entries: readonly BuiltEntry[]): void {
  const seen = new Set<number>([0])
  for (const parent of entries) {
    if (parent.kind !== 'root' && parent.kind !== 'storage') continue
    const open = [parent.raw.readUInt32LE(76)]
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id > MOST_NUMBER) continue
      const entry = entries[id]
      if (!entry || seen.has(id)) throw damaged('its directory leads in a circle')
      seen.add(id)
      parent.children.set(entry.name, entry)
      open.push(entry.raw.readUInt32LE(68), entry.raw.readUInt32LE(72))
    }
  }
}

/** The table of the regular sectors. It lies in sectors that the header lists, and a chain of further ones. */
function allocationTable(file: Buffer, mostSectors: number, sector: (number: number) => Buffer): readonly number[] {
  const numbers = Array.from({ length: HEADER_TABLE }, (_, index) => file.readUInt32LE(76 + index * 4))
  let next = file.readUInt32LE(68)
  for (let count = 0; next <= MOST_NUMBER; count++) {
    if (count > mostSectors) throw damaged('its table leads in a circle')
    const more = numbersOf(sector(next))
    next = more.pop() ?? MOST_NUMBER + 1
    numbers.push(...more)
  }
  const own = numbers.filter((number) => number <= MOST_NUMBER)
  if (own.length > mostSectors) throw damaged('its table is larger than the file')
  return own.flatMap((number) => numbersOf(sector(number)))
}

/**
 * Reads the streams of an allocation table, which has for each sector the next one of its chain. No two streams share a
 * sector.
 *
 * @returns the bytes of the chain from a sector on, cut to a size
 */
function streamsOf(table: readonly number[], sector: (number: number) => Buffer) {
  let used = 0
  return (start: number, size?: number): Buffer => {
    if (size === 0) return Buffer.alloc(0)
    const chain: number[] = []
    for (let at = start; at <= MOST_NUMBER; at = table[at] ?? MOST_NUMBER) {
      if (at >= table.length) throw damaged('a chain leaves its table')
      if (++used > table.length) throw damaged('a chain leads in a circle')
      chain.push(at)
    }
    const bytes = Buffer.concat(chain.map((number) => sector(number)))
    if (size !== undefined && size > bytes.length) throw damaged('a stream is longer than its sectors')
    return bytes.subarray(0, size)
  }
}

function numbersOf(bytes: Buffer): number[] {
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readUInt32LE(index * 4))
}

/** Files with sectors of 512 bytes leave the upper half of a size undefined. */
function sizeOf(raw: Buffer, shift: number): number {
  return shift === 9 ? raw.readUInt32LE(120) : Number(raw.readBigUInt64LE(120))
}

function nameOf(raw: Buffer): string {
  const bytes = Math.min(64, raw.readUInt16LE(64))
  return raw.toString('utf16le', 0, Math.max(0, bytes - 2))
}

function damaged(why: string): TimelineSyntaxError {
  return new TimelineSyntaxError(`it is not a readable AAF file: ${why}`)
}
