import { type BytePiece, inputPiece, newBytes } from '../byte-plan.js'
import type { MadeFrames } from '../pes/timed-frames.js'
import type { Replacement } from '../replacements.js'
import { PLAIN_BYTES } from '../structure/transport-pids.js'
import { MOST_PAYLOAD_BYTES, roomBeside, transportHead } from './packet-bytes.js'
import type { TransportSound } from './sound-packets.js'
import { ownRoom, roomOf } from './spare-packets.js'
import { UNCOUNTED_BYTES } from './transport-packet.js'
import { UnitQueue } from './unit-queue.js'
import { type UnitShare, unitShares } from './unit-shares.js'

/** A track with new frames. */
export interface NewTransportSound {
  readonly pid: number
  readonly sound: TransportSound
  readonly made: MadeFrames
  /** Place among the side files. */
  readonly donor: number
}

const COUNTERS = 16
const [COUNTER_AT, LENGTH_AT, LENGTH_BYTES] = [3, 4, 2]

/** Offsets in the file. */
export interface PacketOffsets {
  /** Sync byte of a packet, by its place among all. */
  readonly startOf: (number: number) => number
  /** Place of packets that find no padding; null if they follow the last packet of their unit. */
  readonly late: number | null
  /** Bytes before each packet that state when it arrives. A packet that is added arrives with the one before it. */
  readonly stampBytes: number
}

/** The changes of a track in file order. */
export function* soundEdits(sound: NewTransportSound, places: PacketOffsets): Generator<Replacement> {
  yield* new SoundLayout(sound, places).edits()
}

/** The parts of a packet that stay if it gets other bytes. */
interface OldPacket {
  readonly hasPriority: boolean
  readonly keptBytes: number
  readonly kept: BytePiece
}

/** A packet that was none of the sound. */
const FURTHER: OldPacket = { hasPriority: false, keptBytes: 0, kept: newBytes(Buffer.alloc(0)) }

class SoundLayout {
  readonly #new: NewTransportSound
  readonly #shareOf: (unit: number) => UnitShare
  readonly #places: PacketOffsets
  readonly #queue = new UnitQueue()
  /** Counter of the last packet with a payload in the output. */
  #counter: number

  constructor(sound: NewTransportSound, places: PacketOffsets) {
    const { packets } = sound.sound
    this.#new = sound
    this.#shareOf = unitShares(sound.sound, sound.made)
    this.#places = places
    this.#counter = packets.counter(0) + COUNTERS - 1
  }

  /** Sync byte of a packet of the sound. */
  #startOf(packet: number): number {
    return this.#places.startOf(this.#new.sound.packets.numberOf(packet))
  }

  *edits(): Generator<Replacement> {
    const { units } = this.#new.sound
    for (let unit = 0; unit < units.count; unit++) {
      const share = this.#shareOf(unit)
      const bytes = share.leadBytes + share.to - share.from
      const isSame = this.#queue.isEmpty && bytes === units.startOf(unit + 1) - units.startOf(unit)
      yield* isSame ? this.#sameUnit(unit, share) : this.#otherUnit(unit, share)
    }
    const { late } = this.#places
    if (late !== null) yield { start: late, end: late, pieces: this.#further([]) }
  }

  /** New bytes in the places of the old ones. */
  *#sameUnit(unit: number, share: UnitShare): Generator<Replacement> {
    const { units, packets, isBroken } = this.#new.sound
    let lead = share.leadBytes
    let from = share.from
    for (let packet = units.packetOf(unit); packet < units.packetOf(unit + 1); packet++) {
      const [start, payloadAt] = [this.#startOf(packet), packets.payloadAt(packet)]
      const counter = this.#nextCounter(payloadAt < PLAIN_BYTES)
      if (counter !== packets.counter(packet) && !isBroken) {
        const control = payloadAt === PLAIN_BYTES ? 0x20 : payloadAt > PLAIN_BYTES - MOST_PAYLOAD_BYTES ? 0x30 : 0x10
        const at = start + COUNTER_AT
        yield { start: at, end: at + 1, pieces: [newBytes(Buffer.of(control | counter))] }
      }
      const head = packet === units.packetOf(unit) ? units.headBytes(unit) : 0
      const room = PLAIN_BYTES - payloadAt - head
      const kept = Math.min(lead, room)
      lead -= kept
      const length = room - kept
      if (length <= 0) continue
      const at = start + payloadAt + head + kept
      yield { start: at, end: at + length, pieces: [this.#donorPiece(from, length)] }
      from += length
    }
  }

  /** Other bytes in as many packets as they need. Packets without use are filled up. */
  *#otherUnit(unit: number, share: UnitShare): Generator<Replacement> {
    const { sound } = this.#new
    const { units, packets, spares } = sound
    this.#queue.add(this.#content(unit, share))
    const end = units.packetOf(unit + 1)
    let room = ownRoom(sound, unit)
    let spare = spares.firstOf(unit)
    for (let packet = units.packetOf(unit); packet < end; packet++) {
      const [start, keptBytes] = [this.#startOf(packet), packets.keptBytes(packet)]
      const kept = inputPiece(start + 5, start + 5 + keptBytes)
      const pieces = this.#packet({ hasPriority: packets.hasPriority(packet), keptBytes, kept })
      room -= roomOf(sound, packet)
      const isLast = packet === end - 1
      const isFlushed = isLast && this.#places.late === null
      const stamp = [inputPiece(start - this.#places.stampBytes, start)]
      yield { start, end: start + PLAIN_BYTES, pieces: isFlushed ? [...pieces, ...this.#further(stamp)] : pieces }
      const next = isLast ? Number.POSITIVE_INFINITY : packets.numberOf(packet + 1)
      for (; spare < spares.firstOf(unit + 1) && spares.numberOf(spare) < next; spare++) {
        if (this.#queue.fits(room)) continue
        const place = this.#places.startOf(spares.numberOf(spare))
        yield { start: place, end: place + PLAIN_BYTES, pieces: this.#packet(FURTHER) }
      }
    }
  }

  /** @param stamp what precedes each packet */
  #further(stamp: readonly BytePiece[]): readonly BytePiece[] {
    const made: BytePiece[] = []
    while (!this.#queue.isEmpty) made.push(...stamp, ...this.#packet(FURTHER))
    return made
  }

  #packet({ hasPriority, keptBytes, kept }: OldPacket): readonly BytePiece[] {
    const { pieces, bytes, startsUnit } = this.#queue.take(roomBeside(keptBytes))
    const counter = this.#nextCounter(bytes > 0)
    const { pid } = this.#new
    const { head, stuffing } = transportHead({ pid, startsUnit, hasPriority, counter, keptBytes, payloadBytes: bytes })
    return [newBytes(head), kept, newBytes(stuffing), ...pieces]
  }

  /** The old head with the new length, and the new frames. Nothing if there are none. */
  #content(unit: number, { leadBytes, from, to }: UnitShare): readonly BytePiece[] {
    const { units, packets } = this.#new.sound
    if (leadBytes + to - from === 0) return []
    const packet = units.packetOf(unit)
    const start = this.#startOf(packet) + packets.payloadAt(packet)
    const headBytes = units.headBytes(unit)
    const length = Buffer.alloc(LENGTH_BYTES)
    if (units.statesLength(unit)) length.writeUInt16BE(headBytes - UNCOUNTED_BYTES + leadBytes + to - from)
    return [
      inputPiece(start, start + LENGTH_AT),
      newBytes(length),
      inputPiece(start + UNCOUNTED_BYTES, start + headBytes),
      ...this.#leadPieces(unit, leadBytes),
      this.#donorPiece(from, to - from),
    ]
  }

  #leadPieces(unit: number, leadBytes: number): readonly BytePiece[] {
    const { units, packets } = this.#new.sound
    const pieces: BytePiece[] = []
    let left = leadBytes
    for (let packet = units.packetOf(unit); left > 0; packet++) {
      const head = packet === units.packetOf(unit) ? units.headBytes(unit) : 0
      const at = packets.payloadAt(packet) + head
      const length = Math.min(left, PLAIN_BYTES - at)
      pieces.push(inputPiece(this.#startOf(packet) + at, this.#startOf(packet) + at + length))
      left -= length
    }
    return pieces
  }

  #donorPiece(start: number, length: number): BytePiece {
    return { kind: 'donor', donor: this.#new.donor, start, length }
  }

  #nextCounter(hasPayload: boolean): number {
    if (hasPayload) this.#counter += 1
    this.#counter %= COUNTERS
    return this.#counter
  }
}
