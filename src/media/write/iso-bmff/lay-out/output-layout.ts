import { type Box, endOf, resizedHeader } from '../../../probe/movie/box.js'
import {
  type BytePiece,
  type BytePlan,
  inputPiece,
  joinRanges,
  lengthOf,
  newBytes,
  offsetMap,
  pieceLength,
} from '../../byte-plan.js'
import { Column } from '../../column.js'
import { firstAtLeast } from '../../first-at-least.js'
import { RunsInFileOrder } from '../../runs-in-file-order.js'
import type { Fragment, Fragments } from '../read/fragments.js'
import type { IsoFile } from '../read/iso-file.js'
import type { BoxStructure } from '../read/read-structure.js'
import { replaceInFragment } from './fragment-offsets.js'
import type { NewIsoTrack } from './new-iso-track.js'
import type { Replacements, Sheet } from './sheet.js'

/** The pieces of an output, made while they are read, and their offsets, found in a first reading. */
export class OutputLayout {
  readonly #structure: BoxStructure
  readonly #fragments: Fragments
  readonly #tracks: readonly NewIsoTrack[]
  readonly #replacements: Replacements
  readonly #removed: RunsInFileOrder

  constructor({ structure, fragments }: IsoFile, tracks: readonly NewIsoTrack[], replacements: Replacements) {
    this.#structure = structure
    this.#fragments = fragments
    this.#tracks = tracks
    this.#replacements = replacements
    this.#removed = new RunsInFileOrder(tracks.map(({ old }) => old.runs))
  }

  /** @param sheet null as long as the offsets in fragments are unknown: all lengths are right */
  plan(sheet: Sheet | null): BytePlan {
    return { pieces: { [Symbol.iterator]: () => joinRanges(this.#pieces(sheet)) } }
  }

  sheet(): Sheet {
    const [boxes, boxStarts] = [Column.floats(), Column.floats()]
    const runStarts = this.#tracks.map(({ old }) => new Float64Array(old.runs.count))
    let at = 0
    for (const { start, pieces } of this.#parts(null)) {
      boxes.push(start)
      boxStarts.push(at)
      for (const piece of pieces) {
        if (piece.kind === 'donor') (runStarts[piece.donor] as Float64Array)[piece.run] = at
        at += pieceLength(piece)
      }
    }
    return {
      tracks: this.#tracks,
      runStart: (track, run) => runStarts[track]?.[run] ?? 0,
      boxStart: (inputOffset) => {
        const place = firstAtLeast(boxes.count, (row) => boxes.get(row), inputOffset)
        return place < boxes.count && boxes.get(place) === inputOffset ? boxStarts.get(place) : undefined
      },
      mapped: offsetMap(this.plan(null)).outputOffset,
    }
  }

  *#pieces(sheet: Sheet | null): Generator<BytePiece> {
    for (const { pieces } of this.#parts(sheet)) yield* pieces
  }

  /** The pieces of each box on top, and of the bytes behind the last, by their start in the input. */
  *#parts(sheet: Sheet | null): Generator<{ readonly start: number; readonly pieces: Iterable<Piece> }> {
    const { boxes, boxesEnd, sizeBytes } = this.#structure
    const fragments = this.#fragments[Symbol.iterator]()
    let next = 0
    for (const box of boxes) {
      const from = next
      next = firstAtLeast(this.#removed.count, this.#removed.start, endOf(box))
      const fragment = box.type === 'moof' ? (fragments.next().value as Fragment) : null
      const pieces = fragment
        ? boxPieces(fragment.moof, replaceInFragment(fragment, this.#tracks, sheet))
        : boxPieces(box, this.#replacements)
      yield { start: box.start, pieces: next > from ? this.#dataPieces(box, from, next) : pieces }
    }
    yield { start: boxesEnd, pieces: [inputPiece(boxesEnd, sizeBytes)] }
  }

  /** A box of media data: new packets in the places of old ones, all other bytes unchanged. */
  *#dataPieces(box: Box, from: number, to: number): Generator<Piece> {
    let length = box.length - box.headerBytes
    for (let row = from; row < to; row++) {
      length += this.#newPackets(row).length - (this.#removed.end(row) - this.#removed.start(row))
    }
    yield newBytes(resizedHeader(box, length))
    let at = box.start + box.headerBytes
    for (let row = from; row < to; row++) {
      yield inputPiece(at, this.#removed.start(row))
      yield this.#newPackets(row)
      at = this.#removed.end(row)
    }
    yield inputPiece(at, endOf(box))
  }

  /** New packets in the place of an old run. */
  #newPackets(row: number): NewPackets {
    const { track, place } = this.#removed.at(row)
    const { donor, deals } = this.#tracks[track] as NewIsoTrack
    const { from, to } = deals.at(place)
    const start = donor.packets.offsetOf(from)
    return { kind: 'donor', donor: track, run: place, start, length: donor.packets.offsetOf(to) - start }
  }
}

type NewPackets = Extract<BytePiece, { readonly kind: 'donor' }> & { readonly run: number }
type Piece = Exclude<BytePiece, { readonly kind: 'donor' }> | NewPackets

/** A box with the new bytes of its children. A box without new bytes is one range of the input. */
function boxPieces(box: Box, replacements: Replacements): readonly Piece[] {
  const made = replacements.get(box)
  if (made) return made.map(newBytes)
  if (!hasReplaced(box, replacements)) return [inputPiece(box.start, endOf(box))]
  const fieldsAt = box.start + box.headerBytes
  const last = box.children.at(-1)
  const restAt = last ? endOf(last) : fieldsAt + box.prefixBytes
  const body: readonly Piece[] = [
    inputPiece(fieldsAt, fieldsAt + box.prefixBytes),
    ...box.children.flatMap((child) => boxPieces(child, replacements)),
    inputPiece(restAt, endOf(box)),
  ]
  return [newBytes(resizedHeader(box, lengthOf(body))), ...body]
}

function hasReplaced(box: Box, replacements: Replacements): boolean {
  return box.children.some((child) => replacements.has(child) || hasReplaced(child, replacements))
}
