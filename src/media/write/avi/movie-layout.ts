import { type BytePiece, inputPiece } from '../byte-plan.js'
import type { DealtPackets } from '../deal-packets.js'
import { firstAtLeast } from '../first-at-least.js'
import { RunsInFileOrder } from '../runs-in-file-order.js'
import type { Chunk } from '../structure/chunks.js'
import type { AviFile } from './avi-file.js'
import type { ChangedStream } from './avi-index.js'
import { chunkHead, sizePiece, withBody } from './avi-pieces.js'
import { chunkBytes, type SoundChunks, soundId } from './movie-data.js'
import type { AviStream } from './stream-header.js'

/** The packets of a newly encoded voice, in a side file of the same format. */
export interface AviDonor {
  readonly stream: AviStream
  readonly packets: SoundChunks
}

/** New sound in the place of the old. */
export interface NewAviSound extends ChangedStream {
  readonly stream: AviStream
  readonly donor: AviDonor
  readonly deals: DealtPackets
}

/** New bodies of indices, by the start of their chunk. */
export type NewBodies = ReadonlyMap<number, Buffer>

/** The lists of media with new packets in place of the old ones. */
export class MovieLayout {
  readonly #sounds: readonly NewAviSound[]
  readonly #removed: RunsInFileOrder
  /** Lists (`rec `) and indices, in file order. */
  readonly #heads: readonly { readonly start: number; readonly end: number; readonly isList: boolean }[]
  readonly #indices: AviFile['data']['indices']
  readonly #indexGrowths: ReadonlyMap<number, number>
  readonly #headBytes: ReadonlyMap<number, number>

  /** @param indexGrowths bytes that indices need more, by the start of their chunk */
  constructor({ data }: AviFile, sounds: readonly NewAviSound[], indexGrowths: ReadonlyMap<number, number>) {
    this.#sounds = sounds
    this.#removed = new RunsInFileOrder(sounds.map(({ chunks }) => chunks))
    this.#indices = data.indices
    this.#indexGrowths = indexGrowths
    const lists = data.records.map(({ start, end }) => ({ start, end, isList: true }))
    const indices = data.indices.map(({ start, end }) => ({ start, end, isList: false }))
    this.#heads = [...lists, ...indices].sort((one, other) => one.start - other.start)
    this.#headBytes = new Map([
      ...data.records.map((list) => [list.start, list.end - list.start - 8 + this.growth(list)] as const),
      ...data.indices.map(({ start, bodyLength }) => [start, bodyLength + (indexGrowths.get(start) ?? 0)] as const),
    ])
  }

  /** The new size of a list (`rec `) or an index by its start in the input; undefined for any other chunk. */
  headBytes = (start: number): number | undefined => this.#headBytes.get(start)

  /** Bytes that a range of media needs more than before. */
  growth({ start, end }: { readonly start: number; readonly end: number }): number {
    const [fromRow, toRow] = [start, end].map((at) => firstAtLeast(this.#removed.count, this.#removed.start, at))
    let bytes = 0
    for (let row = fromRow as number; row < (toRow as number); row++) {
      const { track, place } = this.#removed.at(row)
      const { donor, deals } = this.#sounds[track] as NewAviSound
      const { from, to } = deals.at(place)
      for (let packet = from; packet < to; packet++) bytes += chunkBytes(donor.packets.bytes(packet))
      bytes -= this.#removed.end(row) - this.#removed.start(row)
    }
    const indexAt = (place: number) => this.#indices[place]?.start ?? 0
    const first = firstAtLeast(this.#indices.length, indexAt, start)
    for (let place = first; place < this.#indices.length && indexAt(place) < end; place++) {
      bytes += this.#indexGrowths.get(indexAt(place)) ?? 0
    }
    return bytes
  }

  *pieces(movi: Chunk, bodies: NewBodies): Generator<BytePiece> {
    yield inputPiece(movi.start, movi.start + 4)
    yield sizePiece(movi.end - movi.start - 8 + this.growth(movi))
    let at = movi.bodyStart
    let head = firstAtLeast(this.#heads.length, (place) => this.#heads[place]?.start ?? 0, movi.start)
    const [fromRow, toRow] = [movi.start, movi.end].map((offset) =>
      firstAtLeast(this.#removed.count, this.#removed.start, offset),
    ) as [number, number]
    for (let row = fromRow; row <= toRow; row++) {
      const start = row < toRow ? this.#removed.start(row) : movi.end
      for (let next = this.#heads[head]; next && next.start < start; next = this.#heads[++head]) {
        if (next.isList) {
          yield inputPiece(at, next.start + 4)
          yield sizePiece(this.headBytes(next.start) ?? 0)
          at = next.start + 8
        } else {
          yield inputPiece(at, next.start)
          yield* withBody(next, bodies.get(next.start) ?? Buffer.alloc(0))
          at = next.end
        }
      }
      yield inputPiece(at, start)
      if (row === toRow) return
      yield* this.#newChunks(row)
      at = this.#removed.end(row)
    }
  }

  *#newChunks(row: number): Generator<BytePiece> {
    const { track, place } = this.#removed.at(row)
    const { number, donor, deals } = this.#sounds[track] as NewAviSound
    const { from, to } = deals.at(place)
    for (let packet = from; packet < to; packet++) {
      const bytes = donor.packets.bytes(packet)
      yield { kind: 'bytes', bytes: chunkHead(soundId(number), bytes) }
      yield { kind: 'donor', donor: track, start: donor.packets.start(packet) + 8, length: bytes }
      yield { kind: 'bytes', bytes: Buffer.alloc(bytes % 2) }
    }
  }
}
