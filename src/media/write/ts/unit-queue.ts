import { type BytePiece, pieceLength } from '../byte-plan.js'
import { takeBytes } from '../pes/take-bytes.js'
import { MOST_PAYLOAD_BYTES } from './packet-bytes.js'

/** The start of a packet's payload, and whether a unit begins with it. */
export interface Taken {
  readonly pieces: readonly BytePiece[]
  readonly bytes: number
  readonly startsUnit: boolean
}

/** Units that wait for packets, each with its pieces. A packet has bytes of one unit. */
export class UnitQueue {
  readonly #units: { readonly pieces: BytePiece[]; left: number; isBegun: boolean }[] = []

  add(pieces: readonly BytePiece[]): void {
    const left = pieces.reduce((sum, piece) => sum + pieceLength(piece), 0)
    if (left > 0) this.#units.push({ pieces: [...pieces], left, isBegun: false })
  }

  get isEmpty(): boolean {
    return this.#units.length === 0
  }

  /** False if packets with so many bytes of room may not suffice. */
  fits(room: number): boolean {
    const wanted = this.#units.reduce((sum, { left }) => sum + left, 0)
    return wanted + MOST_PAYLOAD_BYTES * Math.max(0, this.#units.length - 1) <= room
  }

  /** The payload of the next packet; nothing if no unit waits. */
  take(room: number): Taken {
    const [unit] = this.#units
    if (!unit) return { pieces: [], bytes: 0, startsUnit: false }
    const startsUnit = !unit.isBegun
    const bytes = Math.min(unit.left, room)
    const pieces = takeBytes(unit.pieces, bytes)
    unit.isBegun = true
    unit.left -= bytes
    if (unit.left === 0) this.#units.shift()
    return { pieces, bytes, startsUnit }
  }
}
