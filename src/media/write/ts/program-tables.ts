import { MalformedFile } from '../../probe/malformed-file.js'
import { TableSections } from './table-sections.js'

/** A descriptor of a table: its tag and what follows its length. */
export interface Descriptor {
  readonly tag: number
  readonly body: Buffer
}

/** A stream in the table of a program. */
export interface ProgramEntry {
  readonly streamType: number
  readonly pid: number
  readonly descriptors: readonly Descriptor[]
}

/** The table of a program. */
export interface ProgramTable {
  readonly descriptors: readonly Descriptor[]
  readonly entries: readonly ProgramEntry[]
}

const [PROGRAMS_PID, PROGRAMS_TABLE, STREAMS_TABLE] = [0, 0, 2]
/** Bytes of a section before its content, and its checksum. */
const [HEAD_BYTES, SUM_BYTES] = [8, 4]
/** A file of days has fewer. More would fill the memory. */
const MOST_TABLES = 10_000
const CHANGE = 'the tables of its programs change'
/** Byte with the version of a table, and the bit that says if it is valid already. */
const VERSION_AT = 5

/** Follows the tables of programs through a file. */
export class ProgramTables {
  readonly #readers = new Map<number, TableSections>([[PROGRAMS_PID, new TableSections()]])
  /** Contents of each section by its table and numbers. */
  readonly #sections = new Map<string, Set<string>>()
  /** The type of each stream by its PID, which stays. Descriptors may change, and streams begin and end. */
  readonly #types = new Map<number, number>()
  readonly #tables: ProgramTable[] = []
  #change: string | null = null

  /** True for a PID with tables of programs. */
  reads(pid: number): boolean {
    return this.#readers.has(pid)
  }

  /** @param at the sync byte of a packet of a PID that it reads */
  take(pid: number, bytes: Buffer, at: number): void {
    for (const section of this.#readers.get(pid)?.take(bytes, at) ?? []) this.#takeSection(pid, section)
  }

  /** The tables of all programs, each with all its descriptors. @throws MalformedFile if a stream changes its type */
  tables(): readonly ProgramTable[] {
    if (this.#change !== null) throw new MalformedFile(this.#change)
    return this.#tables
  }

  #takeSection(pid: number, section: Buffer): void {
    const wanted = pid === PROGRAMS_PID ? PROGRAMS_TABLE : STREAMS_TABLE
    const isCurrent = section.length >= HEAD_BYTES + SUM_BYTES && ((section[VERSION_AT] as number) & 1) === 1
    if (section[0] !== wanted || !isCurrent) return
    // The list of programs has one identity; a table of streams has that of its program.
    const identity = pid === PROGRAMS_PID ? '' : section.readUInt16BE(3)
    const key = `${pid} ${identity} ${section[6]}`
    const content = Buffer.from(section.subarray(0, section.length - SUM_BYTES))
    content[VERSION_AT] = 0
    const known = this.#sections.get(key)
    if (known?.has(content.toString('latin1'))) return
    if (this.#tables.length === MOST_TABLES) this.#change ??= CHANGE
    if (this.#change !== null) return
    this.#sections.set(key, (known ?? new Set()).add(content.toString('latin1')))
    if (pid === PROGRAMS_PID) {
      if (known) this.#change ??= CHANGE
      else this.#takePrograms(content)
      return
    }
    const table = readTable(content)
    for (const { streamType, pid: own } of table.entries) {
      if ((this.#types.get(own) ?? streamType) !== streamType) this.#change ??= CHANGE
      this.#types.set(own, streamType)
    }
    this.#tables.push(table)
  }

  #takePrograms(content: Buffer): void {
    for (let at = HEAD_BYTES; at + 4 <= content.length; at += 4) {
      const [program, pid] = [content.readUInt16BE(at), content.readUInt16BE(at + 2) & 0x1fff]
      if (program !== 0 && !this.#readers.has(pid)) this.#readers.set(pid, new TableSections())
    }
  }
}

const [PROGRAM_INFO_AT, ENTRY_HEAD_BYTES] = [10, 5]

function readTable(content: Buffer): ProgramTable {
  const infoBytes = content.readUInt16BE(PROGRAM_INFO_AT) & 0xfff
  let at = PROGRAM_INFO_AT + 2
  const descriptors = readDescriptors(content.subarray(at, at + infoBytes))
  at += infoBytes
  const entries: ProgramEntry[] = []
  while (at + ENTRY_HEAD_BYTES <= content.length) {
    const bytes = content.readUInt16BE(at + 3) & 0xfff
    const own = content.subarray(at + ENTRY_HEAD_BYTES, at + ENTRY_HEAD_BYTES + bytes)
    entries.push({
      streamType: content[at] as number,
      pid: content.readUInt16BE(at + 1) & 0x1fff,
      descriptors: readDescriptors(own),
    })
    at += ENTRY_HEAD_BYTES + bytes
  }
  return { descriptors, entries }
}

function readDescriptors(bytes: Buffer): readonly Descriptor[] {
  const found: Descriptor[] = []
  for (let at = 0; at + 2 <= bytes.length; ) {
    const length = bytes[at + 1] as number
    found.push({ tag: bytes[at] as number, body: bytes.subarray(at + 2, at + 2 + length) })
    at += 2 + length
  }
  return found
}
