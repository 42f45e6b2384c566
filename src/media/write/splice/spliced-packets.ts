import type { BytePiece, BytePlan } from '../byte-plan.js'
import type { OldPackets, PacketPlaces, SpliceableTrack } from './old-packets.js'

/** New packets that replace the old ones from `from` on, one for one. */
export interface PacketSwap {
  readonly from: number
  readonly packets: readonly NewPacket[]
}

/** A packet in the side file of its track, its frame header included. */
export interface NewPacket {
  readonly start: number
  readonly length: number
}

/** The packets of a track after a splice, as if they followed each other in one side file. */
export class SplicedPackets implements PacketPlaces {
  readonly #old: OldPackets
  readonly swaps: readonly PacketSwap[]
  readonly #offsets: Float64Array

  constructor(old: OldPackets, swaps: readonly PacketSwap[]) {
    this.#old = old
    this.swaps = swaps
    this.#offsets = new Float64Array(old.count + 1)
    for (let packet = 0; packet < old.count; packet++) {
      this.#offsets[packet + 1] = (this.#offsets[packet] as number) + this.length(packet)
    }
  }

  length = (packet: number): number => {
    const made = this.#newPacket(packet)
    return made ? made.length : this.#old.length(packet)
  }

  offsetOf = (packet: number): number => this.#offsets[packet] as number

  get count(): number {
    return this.#old.count
  }

  /** Bytes of a range of the virtual side file, in whole packets. @param donor place of the new packets */
  *pieces(start: number, length: number, donor: number): Generator<BytePiece> {
    for (let packet = this.#packetAt(start); packet < this.count && this.offsetOf(packet) < start + length; packet++) {
      const made = this.#newPacket(packet)
      if (made) yield { kind: 'donor', donor, start: made.start, length: made.length }
      else yield { kind: 'input', start: this.#old.start(packet), length: this.#old.length(packet) }
    }
  }

  #newPacket(packet: number): NewPacket | undefined {
    for (const { from, packets } of this.swaps) {
      if (packet >= from && packet < from + packets.length) return packets[packet - from]
    }
    return undefined
  }

  #packetAt(offset: number): number {
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.offsetOf(middle) < offset) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** The packets of a replaced track: a side file of its own, or old and new packets. */
export type DonorSource =
  | { readonly kind: 'file'; readonly path: string; readonly donor: number }
  | {
      readonly kind: 'spliced'
      readonly packets: SplicedPackets
      readonly track: SpliceableTrack<unknown>
      readonly donor: number
    }

/** Resolves the donors of a layout, which are places among the replaced tracks, to ranges of side files and of the input. */
export function resolveDonors({ pieces }: BytePlan, sources: readonly DonorSource[]): BytePlan {
  function* resolved(): Generator<BytePiece> {
    for (const piece of pieces) {
      const source = piece.kind === 'donor' ? sources[piece.donor] : undefined
      if (piece.kind !== 'donor' || !source) yield piece
      else if (source.kind === 'file') yield { ...piece, donor: source.donor }
      else yield* source.packets.pieces(piece.start, piece.length, source.donor)
    }
  }
  return { pieces: { [Symbol.iterator]: resolved } }
}
