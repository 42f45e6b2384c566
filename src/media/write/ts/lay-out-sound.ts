import { type BytePiece, inputPiece, newBytes, pieceLength } from '../byte-plan.js'
import { PLAIN_BYTES } from '../structure/transport-pids.js'
import { MOST_PAYLOAD_BYTES, packetHead, roomBeside } from './packet-bytes.js'
import type { Sound } from './sound-packets.js'
import { UNCOUNTED_BYTES } from './transport-packet.js'
import { type MadeFrames, type UnitShare, unitShares } from './unit-shares.js'

/** A range of the input that other bytes replace. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly pieces: readonly BytePiece[]
}

/** A track with new frames. */
export interface NewSound {
  readonly pid: number
  readonly sound: Sound
  readonly made: MadeFrames
  /** Place among the side files. */
  readonly donor: number
}

const COUNTERS = 16
const [COUNTER_AT, LENGTH_AT, LENGTH_BYTES] = [3, 4, 2]

/** The changes of a track in file order. @param startOf offset of the sync byte of a packet, by its place among all */
export function* soundEdits(sound: NewSound, startOf: (number: number) => number): Generator<Edit> {
  yield* new SoundLayout(sound, startOf).edits()
}

class SoundLayout {
  readonly #new: NewSound
  readonly #shareOf: (unit: number) => UnitShare
  readonly #startOf: (packet: number) => number
  /** Counter of the last packet with a payload in the output. */
  #counter: number

  constructor(sound: NewSound, startOf: (number: number) => number) {
    const { packets } = sound.sound
    this.#new = sound
    this.#shareOf = unitShares(sound.sound, sound.made)
    this.#startOf = (packet) => startOf(packets.numberOf(packet))
    this.#counter = packets.counter(0) + COUNTERS - 1
  }

  *edits(): Generator<Edit> {
    const { units } = this.#new.sound
    for (let unit = 0; unit < units.count; unit++) {
      const share = this.#shareOf(unit)
      const bytes = share.leadBytes + share.to - share.from
      yield* bytes === units.startOf(unit + 1) - units.startOf(unit)
        ? this.#sameUnit(unit, share)
        : this.#otherUnit(unit, share)
    }
  }

  /** New bytes in the places of the old ones. */
  *#sameUnit(unit: number, share: UnitShare): Generator<Edit> {
    const { units, packets } = this.#new.sound
    let lead = share.leadBytes
    let from = share.from
    for (let packet = units.packetOf(unit); packet < units.packetOf(unit + 1); packet++) {
      const [start, payloadAt] = [this.#startOf(packet), packets.payloadAt(packet)]
      const counter = this.#nextCounter(payloadAt < PLAIN_BYTES)
      if (counter !== packets.counter(packet)) {
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

  /** Other bytes in as many packets as they need: packets without use are filled up, and further ones follow the last. */
  *#otherUnit(unit: number, share: UnitShare): Generator<Edit> {
    const { units, packets } = this.#new.sound
    const content = new Pieces(this.#content(unit, share))
    const [first, end] = [units.packetOf(unit), units.packetOf(unit + 1)]
    for (let packet = first; packet < end; packet++) {
      const [start, keptBytes] = [this.#startOf(packet), packets.keptBytes(packet)]
      const kept = inputPiece(start + 5, start + 5 + keptBytes)
      const isFirst = packet === first
      const pieces = this.#packet(content, { isFirst, hasPriority: packets.hasPriority(packet), keptBytes, kept })
      const isLast = packet === end - 1
      yield { start, end: start + PLAIN_BYTES, pieces: isLast ? [...pieces, ...this.#further(content)] : pieces }
    }
  }

  #further(content: Pieces): readonly BytePiece[] {
    const made: BytePiece[] = []
    const plain = { isFirst: false, hasPriority: false, keptBytes: 0, kept: newBytes(Buffer.alloc(0)) }
    while (content.left > 0) made.push(...this.#packet(content, plain))
    return made
  }

  #packet(
    content: Pieces,
    old: {
      readonly isFirst: boolean
      readonly hasPriority: boolean
      readonly keptBytes: number
      readonly kept: BytePiece
    },
  ): readonly BytePiece[] {
    const { isFirst, hasPriority, keptBytes, kept } = old
    const payloadBytes = Math.min(content.left, roomBeside(keptBytes))
    const counter = this.#nextCounter(payloadBytes > 0)
    const startsUnit = isFirst && payloadBytes > 0
    const { pid } = this.#new
    const { head, stuffing } = packetHead({ pid, startsUnit, hasPriority, counter, keptBytes, payloadBytes })
    return [newBytes(head), kept, newBytes(stuffing), ...content.take(payloadBytes)]
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

/** Pieces that are taken from their start, in parts. */
class Pieces {
  readonly #pieces: BytePiece[]
  left: number

  constructor(pieces: readonly BytePiece[]) {
    this.#pieces = [...pieces]
    this.left = pieces.reduce((sum, piece) => sum + pieceLength(piece), 0)
  }

  take(length: number): readonly BytePiece[] {
    const taken: BytePiece[] = []
    let wanted = length
    this.left -= length
    while (wanted > 0) {
      const piece = this.#pieces.shift() as BytePiece
      const bytes = Math.min(wanted, pieceLength(piece))
      taken.push(part(piece, 0, bytes))
      if (bytes < pieceLength(piece)) this.#pieces.unshift(part(piece, bytes, pieceLength(piece)))
      wanted -= bytes
    }
    return taken
  }
}

function part(piece: BytePiece, from: number, to: number): BytePiece {
  switch (piece.kind) {
    case 'bytes':
      return newBytes(piece.bytes.subarray(from, to))
    case 'input':
    case 'donor':
      return { ...piece, start: piece.start + from, length: to - from }
    default:
      throw new RangeError('A checksum has no parts.')
  }
}
