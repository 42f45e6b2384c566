import type { BytePiece, BytePlan } from '../byte-plan.js'
import { firstAtLeast } from '../first-at-least.js'
import { type OldPackets, type PacketList, type PacketTime, packetRanges, type SpliceableTrack } from './old-packets.js'
import type { PacketSpan } from './splice-ranges.js'

/** New packets that replace the old ones of a span. Their number may differ. */
export interface PacketSwap extends PacketSpan {
  readonly packets: readonly NewPacket[]
  /** Samples by which the new ones end later than the old ones, at the end of a track. */
  readonly surplusSamples: number
}

/** A packet in the side file of its track, its frame header included. */
export interface NewPacket {
  readonly start: number
  readonly length: number
  readonly time: PacketTime
}

/** A packet of the output that is not the input's, or its place in the input. */
type Source = { readonly old: number } | { readonly made: NewPacket }

/** The packets of a track after a splice, as if they followed each other in one side file. */
export class SplicedPackets implements PacketList {
  readonly #old: OldPackets
  /** In the order of the track. */
  readonly swaps: readonly PacketSwap[]
  readonly count: number
  readonly surplusSamples: number
  readonly #offsets: Float64Array

  constructor(old: OldPackets, swaps: readonly PacketSwap[]) {
    this.#old = old
    this.swaps = swaps
    this.count = swaps.reduce((sum, { from, to, packets }) => sum + packets.length - (to - from + 1), old.count)
    this.surplusSamples = swaps.reduce((sum, swap) => sum + swap.surplusSamples, 0)
    this.#offsets = new Float64Array(this.count + 1)
    for (let packet = 0; packet < this.count; packet++) {
      this.#offsets[packet + 1] = (this.#offsets[packet] as number) + this.length(packet)
    }
  }

  length = (packet: number): number => {
    const source = this.#sourceOf(packet)
    return 'made' in source ? source.made.length : this.#old.length(source.old)
  }

  offsetOf = (packet: number): number => this.#offsets[packet] as number

  timeOf = (packet: number): PacketTime => {
    const source = this.#sourceOf(packet)
    return 'made' in source ? source.made.time : { packet: source.old, behindSamples: 0 }
  }

  firstAt = (old: number): number => firstAtLeast(this.count, (packet) => this.timeOf(packet).packet, old)

  /** The spans that were replaced, in the order of the track. */
  get replaced(): readonly ReplacedPackets[] {
    let moved = 0
    return this.swaps.map(({ from, to, packets }) => {
      const made = { from: from + moved, to: from + moved + packets.length - 1 }
      moved += packets.length - (to - from + 1)
      return { from, to, made }
    })
  }

  /** Bytes of a range of the virtual side file. @param donor place of the new packets */
  *pieces(start: number, length: number, donor: number): Generator<BytePiece> {
    const end = start + length
    const first = Math.max(0, firstAtLeast(this.count, this.offsetOf, start + 1) - 1)
    for (let packet = first; packet < this.count && this.offsetOf(packet) < end; packet++) {
      let at = this.offsetOf(packet)
      for (const range of this.#partsOf(packet, donor)) {
        const [from, to] = [Math.max(start, at), Math.min(end, at + range.length)]
        if (to > from) yield { ...range, start: range.start + from - at, length: to - from }
        at += range.length
      }
    }
  }

  #partsOf(packet: number, donor: number) {
    const source = this.#sourceOf(packet)
    if ('made' in source)
      return [{ kind: 'donor' as const, donor, start: source.made.start, length: source.made.length }]
    return packetRanges(this.#old, source.old).map((range) => ({ kind: 'input' as const, ...range }))
  }

  #sourceOf(packet: number): Source {
    let old = packet
    for (const { from, to, packets } of this.swaps) {
      if (old < from) break
      const made = packets[old - from]
      if (made) return { made }
      old += to - from + 1 - packets.length
    }
    return { old }
  }
}

/** A span of the input's packets and the span of the new ones in the output, each with both ends included. */
export interface ReplacedPackets extends PacketSpan {
  readonly made: PacketSpan
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
