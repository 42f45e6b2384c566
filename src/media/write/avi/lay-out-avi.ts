import { type BytePiece, type BytePlan, inputPiece, joinRanges, offsetMap, pieceLength } from '../byte-plan.js'
import { type DealtPackets, dealPackets } from '../deal-packets.js'
import { firstAtLeast } from '../first-at-least.js'
import { RunsInFileOrder } from '../runs-in-file-order.js'
import type { HeaderPart } from '../structure/avi-headers.js'
import type { AviFile } from './avi-file.js'
import { indexBase, indexBytes, newIndex } from './avi-index.js'
import { lengthOf, packetHead, sizePiece, statedSize, withBody } from './avi-pieces.js'
import { chunkBytes, type SoundChunks, soundId } from './movie-data.js'
import { type AviStream, startTimes, withNewSound } from './stream-header.js'

/** The packets of a newly encoded voice, in a side file of the same format. */
export interface AviDonor {
  readonly stream: AviStream
  readonly packets: SoundChunks
}

/** New sound in the place of the old. */
interface NewSound {
  readonly number: number
  readonly stream: AviStream
  readonly chunks: SoundChunks
  readonly donor: AviDonor
  readonly deals: DealtPackets
}

/** Lays out an AVI in which donors supply the packets of some streams. @param numbers of the streams, by donor */
export function layOutAvi(avi: AviFile, numbers: readonly number[], donors: readonly AviDonor[]): BytePlan {
  return new AviLayout(avi, numbers, donors).plan()
}

class AviLayout {
  readonly #avi: AviFile
  readonly #sounds: readonly NewSound[]
  readonly #removed: RunsInFileOrder
  readonly #recordBytes: ReadonlyMap<number, number>
  readonly #moviBytes: number

  constructor(avi: AviFile, numbers: readonly number[], donors: readonly AviDonor[]) {
    this.#avi = avi
    this.#sounds = numbers.map((number, place) => newSound(avi, number, donors[place]))
    this.#removed = new RunsInFileOrder(this.#sounds.map(({ chunks }) => chunks))
    this.#recordBytes = this.#sizesOfRecords()
    this.#moviBytes = avi.movi.end - avi.movi.start + this.#growthOf(0, this.#removed.count)
  }

  plan(): BytePlan {
    const index = this.#index()
    return { pieces: { [Symbol.iterator]: () => joinRanges(this.#pieces(index)) } }
  }

  /** @param index entries of the new index */
  *#pieces(index: Buffer): Generator<BytePiece> {
    const { file, movi, headers } = this.#avi
    const [first] = file.chunks
    const parts = file.chunks.map((chunk): readonly BytePiece[] | null => {
      if (chunk === movi) return null
      if (chunk.start === headers.start) return this.#headerPieces(headers)
      return chunk === this.#avi.index?.chunk ? withBody(chunk, index) : [inputPiece(chunk.start, chunk.end)]
    })
    const length = parts.reduce((sum, part) => sum + (part ? lengthOf(part) : this.#moviBytes), 0)
    const oldLength = file.end - (first?.start ?? file.end)
    yield inputPiece(0, 4)
    yield sizePiece(statedSize(this.#avi.statedBytes, length - oldLength))
    yield inputPiece(8, file.headLength)
    for (const part of parts) {
      if (part) yield* part
      else yield* this.#moviPieces()
    }
    yield inputPiece(file.end, file.sizeBytes)
  }

  #headerPieces(part: HeaderPart): readonly BytePiece[] {
    for (const { stream, donor } of this.#sounds) {
      if (part === stream.header) return withBody(part, withNewSound(stream, donor.stream))
      if (part === stream.format) return withBody(part, donor.stream.format.body)
    }
    if (!part.children) return [inputPiece(part.start, part.end)]
    const inside = part.children.flatMap((child) => this.#headerPieces(child))
    const last = part.children.at(-1)?.end ?? part.bodyStart
    const rest = inputPiece(last, part.end)
    return [
      inputPiece(part.start, part.start + 4),
      sizePiece(part.bodyStart - part.start - 8 + lengthOf([...inside, rest])),
      inputPiece(part.bodyStart - 4, part.bodyStart),
      ...inside,
      rest,
    ]
  }

  *#moviPieces(): Generator<BytePiece> {
    const { movi, data } = this.#avi
    yield inputPiece(movi.start, movi.start + 4)
    yield sizePiece(this.#moviBytes - 8)
    let at = movi.bodyStart
    let record = 0
    for (let row = 0; row <= this.#removed.count; row++) {
      const start = row < this.#removed.count ? this.#removed.start(row) : movi.end
      for (let list = data.records[record]; list && list.start < start; list = data.records[++record]) {
        yield inputPiece(at, list.start + 4)
        yield sizePiece(this.#recordBytes.get(list.start) ?? 0)
        at = list.start + 8
      }
      yield inputPiece(at, start)
      if (row === this.#removed.count) return
      yield* this.#newChunks(row)
      at = this.#removed.end(row)
    }
  }

  *#newChunks(row: number): Generator<BytePiece> {
    const { track, place } = this.#removed.at(row)
    const { number, donor, deals } = this.#sounds[track] as NewSound
    const { from, to } = deals.at(place)
    for (let packet = from; packet < to; packet++) {
      const bytes = donor.packets.bytes(packet)
      yield { kind: 'bytes', bytes: packetHead(soundId(number), bytes) }
      yield { kind: 'donor', donor: track, start: donor.packets.start(packet) + 8, length: bytes }
      yield { kind: 'bytes', bytes: Buffer.alloc(bytes % 2) }
    }
  }

  /** Bytes that new packets need more than old ones, from a row to another. */
  #growthOf(fromRow: number, toRow: number): number {
    let bytes = 0
    for (let row = fromRow; row < toRow; row++) {
      const { track, place } = this.#removed.at(row)
      const { donor, deals } = this.#sounds[track] as NewSound
      const { from, to } = deals.at(place)
      for (let packet = from; packet < to; packet++) bytes += chunkBytes(donor.packets.bytes(packet))
      bytes -= this.#removed.end(row) - this.#removed.start(row)
    }
    return bytes
  }

  /** The new sizes of lists (`rec `), by their start in the input. */
  #sizesOfRecords(): ReadonlyMap<number, number> {
    const rowAt = (offset: number) => firstAtLeast(this.#removed.count, this.#removed.start, offset)
    const { records } = this.#avi.data
    return new Map(records.map(({ start, end }) => [start, end - start - 8 + this.#growthOf(rowAt(start), rowAt(end))]))
  }

  /** The entries of the index, found in a layout that has their length. */
  #index(): Buffer {
    const counts = this.#sounds.map(({ chunks, donor }) => ({ old: chunks.count, made: donor.packets.count }))
    const length = indexBytes(this.#avi, counts)
    const [first] = this.#sounds
    const base = first && this.#avi.index ? indexBase(this.#avi, first) : undefined
    if (base === undefined) return Buffer.alloc(0)
    const empty = Buffer.alloc(length)
    const map = offsetMap({ pieces: { [Symbol.iterator]: () => this.#pieces(empty) } })
    const starts = this.#startsOfPackets(empty)
    const places = new Map(this.#sounds.map(({ number }, place) => [soundId(number), place]))
    const soundOf = (id: string) => this.#sounds[places.get(id) ?? -1]
    return newIndex(this.#avi, base, length, {
      mapped: (offset) => map.outputOffset(offset) ?? 0,
      packetsAt: (id, place) => soundOf(id)?.deals.at(place),
      packet: (id, packet) => ({
        start: starts[places.get(id) ?? -1]?.[packet] ?? 0,
        bytes: soundOf(id)?.donor.packets.bytes(packet) ?? 0,
      }),
      recordBytes: (offset) => this.#recordBytes.get(offset) ?? 0,
    })
  }

  /** Offsets of the heads of new packets, by donor. */
  #startsOfPackets(index: Buffer): readonly Float64Array[] {
    const starts = this.#sounds.map(({ donor }) => new Float64Array(donor.packets.count))
    const next = starts.map(() => 0)
    let at = 0
    for (const piece of this.#pieces(index)) {
      if (piece.kind === 'donor') {
        const packet = next[piece.donor] as number
        ;(starts[piece.donor] as Float64Array)[packet] = at - 8
        next[piece.donor] = packet + 1
      }
      at += pieceLength(piece)
    }
    return starts
  }
}

function newSound(avi: AviFile, number: number, donor: AviDonor | undefined): NewSound {
  const [stream, chunks] = [avi.streams[number], avi.data.sound.get(number)]
  if (!stream || !chunks || !donor) throw new RangeError(`Stream ${number} has no donor.`)
  const { packets } = donor
  const times = startTimes(donor.stream.clock, packets.count, packets.bytes)
  const firstFrom = (sec: number) => firstAtLeast(packets.count, (packet) => times[packet] as number, sec)
  const places = startTimes(stream.clock, chunks.count, chunks.bytes)
  return { number, stream, chunks, donor, deals: dealPackets({ count: packets.count, firstFrom }, places, 0) }
}
