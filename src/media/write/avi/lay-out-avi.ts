import {
  type BytePiece,
  type BytePlan,
  inputPiece,
  joinRanges,
  lengthOf,
  offsetMap,
  pieceLength,
} from '../byte-plan.js'
import { dealPackets } from '../deal-packets.js'
import { firstAtLeast } from '../first-at-least.js'
import type { HeaderPart } from '../structure/avi-headers.js'
import type { Chunk } from '../structure/chunks.js'
import type { AviFile, AviPart } from './avi-file.js'
import { sizePiece, statedSize, withBody } from './avi-pieces.js'
import { type AviDonor, MovieLayout, type NewAviSound, type NewBodies } from './movie-layout.js'
import { NewIndices } from './new-indices.js'
import { startTimes, withNewSound } from './stream-header.js'

/** Parts of the input that change. */
interface Changes {
  /** Numbers of the streams with new sound, by donor. */
  readonly numbers: readonly number[]
  /** Chunks that are left out. */
  readonly signatures: ReadonlySet<Chunk>
}

/** Lays out an AVI in which donors supply the packets of some streams. */
export function layOutAvi(avi: AviFile, changes: Changes, donors: readonly AviDonor[]): BytePlan {
  return new AviLayout(avi, changes, donors).plan()
}

class AviLayout {
  readonly #avi: AviFile
  readonly #signatures: ReadonlySet<Chunk>
  readonly #sounds: readonly NewAviSound[]
  readonly #indices: NewIndices
  readonly #movies: MovieLayout

  constructor(avi: AviFile, { numbers, signatures }: Changes, donors: readonly AviDonor[]) {
    this.#avi = avi
    this.#signatures = signatures
    this.#sounds = numbers.map((number, place) => newSound(avi, number, donors[place]))
    this.#indices = new NewIndices(avi, this.#sounds)
    this.#movies = new MovieLayout(avi, this.#sounds, this.#indices.growths)
  }

  /** The indices are found in a layout that has their lengths. */
  plan(): BytePlan {
    const empty = this.#indices.emptyBodies()
    const map = offsetMap({ pieces: { [Symbol.iterator]: () => this.#pieces(empty) } })
    const bodies = this.#indices.bodies({
      mapped: map.outputOffset,
      starts: this.#startsOfPackets(empty),
      headBytes: this.#movies.headBytes,
    })
    return { pieces: { [Symbol.iterator]: () => joinRanges(this.#pieces(bodies)) } }
  }

  *#pieces(bodies: NewBodies): Generator<BytePiece> {
    for (const part of this.#avi.parts) yield* this.#partPieces(part, bodies)
    yield inputPiece(this.#avi.parts.at(-1)?.end ?? 0, this.#avi.sizeBytes)
  }

  *#partPieces(part: AviPart, bodies: NewBodies): Generator<BytePiece> {
    const { start, end, statedBytes, chunks, movi } = part
    const made = new Map(chunks.map((chunk) => [chunk, this.#chunkPieces(chunk, bodies)]))
    const growthOf = (chunk: Chunk) =>
      chunk === movi ? this.#movies.growth(movi) : lengthOf(made.get(chunk) ?? []) - (chunk.end - chunk.start)
    const inside = chunks.filter((chunk) => chunk.start < start + 8 + statedBytes)
    const growth = inside.reduce((sum, chunk) => sum + growthOf(chunk), 0)
    yield inputPiece(start, start + 4)
    yield sizePiece(statedSize(statedBytes, growth))
    let at = start + 8
    for (const chunk of chunks) {
      yield inputPiece(at, chunk.start)
      if (chunk === movi) yield* this.#movies.pieces(movi, bodies)
      else yield* made.get(chunk) ?? []
      at = chunk.end
    }
    yield inputPiece(at, end)
  }

  /** The pieces of a chunk outside the media. */
  #chunkPieces(chunk: Chunk, bodies: NewBodies): readonly BytePiece[] {
    if (this.#signatures.has(chunk)) return []
    if (chunk.start === this.#avi.headers.start) return this.#headerPieces(this.#avi.headers, bodies)
    const index = bodies.get(chunk.start)
    return index ? withBody(chunk, index) : [inputPiece(chunk.start, chunk.end)]
  }

  #headerPieces(part: HeaderPart, bodies: NewBodies): readonly BytePiece[] {
    for (const { stream, donor } of this.#sounds) {
      if (part === stream.header) return withBody(part, withNewSound(stream, donor.stream))
      if (part === stream.format) return withBody(part, donor.stream.format.body)
    }
    const index = bodies.get(part.start)
    if (index) return withBody(part, index)
    if (!part.children) return [inputPiece(part.start, part.end)]
    const inside = part.children.flatMap((child) => this.#headerPieces(child, bodies))
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

  /** Offsets of the heads of new packets, by donor. */
  #startsOfPackets(bodies: NewBodies): readonly Float64Array[] {
    const starts = this.#sounds.map(({ donor }) => new Float64Array(donor.packets.count))
    const next = starts.map(() => 0)
    let at = 0
    for (const piece of this.#pieces(bodies)) {
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

function newSound(avi: AviFile, number: number, donor: AviDonor | undefined): NewAviSound {
  const [stream, chunks] = [avi.streams[number], avi.data.sound.get(number)]
  if (!stream || !chunks || !donor) throw new RangeError(`Stream ${number} has no donor.`)
  const { packets } = donor
  const times = startTimes(donor.stream.clock, packets.count, packets.bytes)
  const firstFrom = (sec: number) => firstAtLeast(packets.count, (packet) => times[packet] as number, sec)
  const places = startTimes(stream.clock, chunks.count, chunks.bytes)
  return { number, stream, chunks, donor, deals: dealPackets({ count: packets.count, firstFrom }, places, 0) }
}
