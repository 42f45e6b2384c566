import { type FileHandle, open } from 'node:fs/promises'
import { throwIfAborted } from '../../../core/abort.js'
import { readAt } from '../../../core/read-at.js'
import { MalformedFile, malformedReason } from '../../probe/malformed-file.js'
import { CORRECTED_BYTES, type PacketGrid, PLAIN_BYTES, packetGrid, SYNC } from '../structure/transport-pids.js'
import { ClockRate } from './clock-rate.js'
import { type ProgramTable, ProgramTables } from './program-tables.js'
import { type SoundKind, SoundReader, type TransportSound } from './sound-packets.js'

/** A parsed transport stream. */
export interface TransportFile {
  readonly path: string
  readonly sizeBytes: number
  readonly grid: PacketGrid
  /** First byte behind the last whole packet. */
  readonly end: number
  /** The first packet of each PID, in file order. */
  readonly firsts: readonly FirstPacket[]
  /** A reason if they cannot be relied on. */
  readonly tables: readonly ProgramTable[] | string
  /** False if the times of packets follow from their places, so that none can be added. */
  readonly isElastic: boolean
  /** The sounds by PID, or the reason why voxmux cannot rewrite one. */
  readonly sounds: ReadonlyMap<number, TransportSound | string>
}

export interface FirstPacket {
  readonly pid: number
  readonly number: number
  readonly hasPayload: boolean
}

const PIDS = 8192
const PADDING_PID = PIDS - 1
const PACKETS_AT_ONCE = 16_384
const BYTES_AT_ONCE = 64 * 1024

/**
 * Reads every packet head of a transport stream, and the packets of some sounds.
 *
 * @param kinds coding of each sound by PID
 * @throws MalformedFile if a packet is not at its place, and if error correction follows it
 */
export async function readTransport(
  path: string,
  sizeBytes: number,
  kinds: ReadonlyMap<number, SoundKind>,
  signal?: AbortSignal,
): Promise<TransportFile | null> {
  await using file = await open(path, 'r')
  const grid = await packetGrid(file)
  if (!grid) return null
  const { first, size } = grid
  const reader = new PacketReader(kinds)
  const whole = Math.floor((sizeBytes - first - PLAIN_BYTES) / size) + 1
  const count = Math.min(whole, Math.ceil(((await endOfBytes(file, sizeBytes)) - first) / size))
  for (let number = 0; number < count; number += PACKETS_AT_ONCE) {
    throwIfAborted(signal)
    const packets = Math.min(PACKETS_AT_ONCE, count - number)
    const bytes = await readAt(file, first + number * size, packets * size)
    if (bytes.length < (packets - 1) * size + PLAIN_BYTES) throw new MalformedFile('it becomes shorter')
    for (let packet = 0; packet < packets; packet++) {
      const at = packet * size
      reader.take(bytes, at, number + packet)
      if (size === CORRECTED_BYTES) requireFiller(bytes.subarray(at + PLAIN_BYTES, at + size))
    }
  }
  return {
    ...{ path, sizeBytes, grid, end: first + (count - 1) * size + PLAIN_BYTES },
    ...{ firsts: reader.firsts, tables: reader.tables(), sounds: reader.sounds() },
    isElastic: size !== CORRECTED_BYTES && reader.isElastic(size > PLAIN_BYTES),
  }
}

/** First byte behind the last one that is not zero. Recorders reserve room, and do not use all of it. */
async function endOfBytes(file: FileHandle, sizeBytes: number): Promise<number> {
  for (let end = sizeBytes; end > 0; end -= BYTES_AT_ONCE) {
    const start = Math.max(0, end - BYTES_AT_ONCE)
    const bytes = await readAt(file, start, end - start)
    const last = bytes.findLastIndex((byte) => byte !== 0)
    if (last >= 0) return start + last + 1
  }
  return 0
}

/** @throws MalformedFile if the bytes behind a packet say something about it */
function requireFiller(trailer: Buffer): void {
  const [filler] = trailer
  const isFiller = filler === 0 || filler === 0xff || filler === undefined
  if (isFiller && trailer.every((byte) => byte === filler)) return
  throw new MalformedFile('checksums of its old bytes follow each packet')
}

class PacketReader {
  readonly firsts: FirstPacket[] = []
  readonly #hasPayload = new Uint8Array(PIDS)
  readonly #places = new Map<number, number>()
  readonly #tables = new ProgramTables()
  readonly #rate = new ClockRate()
  readonly #readers: (SoundReader | undefined)[]
  readonly #open: Set<SoundReader>
  readonly #faults = new Map<number, string>()

  constructor(kinds: ReadonlyMap<number, SoundKind>) {
    this.#readers = Array.from({ length: PIDS }, (_, pid) => {
      const kind = kinds.get(pid)
      return kind && new SoundReader(kind)
    })
    this.#open = new Set(this.#readers.filter((reader) => reader !== undefined))
  }

  /** @param at its sync byte @throws MalformedFile without one */
  take(bytes: Buffer, at: number, number: number): void {
    if (bytes[at] !== SYNC) throw new MalformedFile(`its packet ${number} is not at its place`)
    const pid = (((bytes[at + 1] as number) & 0x1f) << 8) | (bytes[at + 2] as number)
    const control = bytes[at + 3] as number
    // The census names the first packet of each PID, which stays.
    if (pid === PADDING_PID && this.#places.has(pid)) for (const reader of this.#open) reader.takePadding(number)
    this.#see(pid, number, (control & 0x10) !== 0)
    if ((control & 0x20) !== 0) this.#rate.take(pid, bytes, at, number)
    if (this.#tables.reads(pid)) this.#tables.take(pid, bytes, at)
    const reader = this.#readers[pid]
    if (reader) this.#unlessFaulty(pid, () => reader.take(bytes, at, number))
  }

  /** @param areStamped true if each packet states when it arrives, whatever its place */
  isElastic(areStamped: boolean): boolean {
    return !this.#places.has(PADDING_PID) && (areStamped || !this.#rate.mayBeConstant)
  }

  tables(): readonly ProgramTable[] | string {
    try {
      return this.#tables.tables()
    } catch (error) {
      return malformedReason(error)
    }
  }

  sounds(): ReadonlyMap<number, TransportSound | string> {
    const sounds = new Map<number, TransportSound | string>()
    for (const [pid, reader] of this.#readers.entries()) {
      if (!reader) continue
      const sound = this.#unlessFaulty(pid, () => reader.finish())
      if (sound) sounds.set(pid, sound)
    }
    for (const [pid, fault] of this.#faults) sounds.set(pid, fault)
    return sounds
  }

  /** The first fault ends the reading of a sound. */
  #unlessFaulty<T>(pid: number, take: () => T): T | undefined {
    try {
      return take()
    } catch (error) {
      this.#faults.set(pid, malformedReason(error))
      const reader = this.#readers[pid]
      if (reader) this.#open.delete(reader)
      this.#readers[pid] = undefined
      return undefined
    }
  }

  #see(pid: number, number: number, hasPayload: boolean): void {
    if (this.#hasPayload[pid] === (hasPayload ? 2 : 1) || this.#hasPayload[pid] === 2) return
    const place = this.#places.get(pid) ?? this.firsts.length
    this.firsts[place] = { pid, number: this.firsts[place]?.number ?? number, hasPayload }
    this.#places.set(pid, place)
    this.#hasPayload[pid] = hasPayload ? 2 : 1
  }
}
