import { ID } from '../../../probe/matroska/ids.js'
import { type BytePiece, CRC_32, inputPiece, newBytes } from '../../byte-plan.js'
import type { Cluster, StatedNumber } from '../read/cluster.js'
import { makeHead, makeUint, uintBytes } from '../read/make-ebml.js'
import type { NewMatroskaTrack } from './new-matroska-track.js'

/** Old bytes of a cluster that give way to new ones. */
interface Edit {
  readonly start: number
  readonly end: number
  /** Number of the new bytes. */
  readonly length: number
  /** The new number; null for packets. */
  readonly bytes: Buffer | null
  /** The track of the packets `from` to `to`; null for a number. */
  readonly track: NewMatroskaTrack | null
  readonly from: number
  readonly to: number
  /** Place of the block that it takes away, from 1; 0 if it takes none. */
  readonly ordinal: number
}

/** A number that a cluster states of its place, with its new value. */
interface NewNumber {
  readonly id: number
  readonly old: StatedNumber
  value: number
  /** Its bytes; they never become fewer, so that positions settle. */
  bytes: number
}

/** Position of a block: offset in the body of its cluster, and number among its blocks, from 1. */
export interface BlockPosition {
  readonly relative: number
  readonly ordinal: number
}

/** A cluster of an output. */
export class ClusterLayout {
  readonly old: Cluster
  readonly #place: number
  readonly #tracks: readonly NewMatroskaTrack[]
  readonly #blockDelta: number
  readonly #numbers: NewNumber[] = []

  /** @param place of the cluster in the file @param states numbers that are true of input and output */
  constructor(
    old: Cluster,
    place: number,
    tracks: readonly NewMatroskaTrack[],
    states: { position: boolean; previousSize: boolean },
  ) {
    this.old = old
    this.#place = place
    this.#tracks = tracks
    this.#blockDelta = delta(this.#packetEdits())
    const { position, previousSize } = old
    if (position && states.position) this.#numbers.push(newNumber(ID.Position, position))
    if (previousSize && states.previousSize) this.#numbers.push(newNumber(ID.PrevSize, previousSize))
  }

  get length(): number {
    return (this.#newHead()?.length ?? this.old.headBytes) + this.old.end - this.old.dataStart + this.#delta()
  }

  /** States its place, and the size of the cluster before it. */
  state(id: number, value: number): void {
    const number = this.#numbers.find((each) => each.id === id)
    if (!number) return
    number.value = value
    number.bytes = uintBytes(value, number.bytes).length
  }

  positionOfOld(relative: number, ordinal: number): BlockPosition {
    const before = this.#edits().filter(({ end }) => end <= this.old.dataStart + relative)
    // A cue may state the number alone. A gap, with the number 0, is filled before the first block.
    const earlier = this.#packetEdits().filter((edit) => edit.ordinal < ordinal)
    const taken = earlier.filter((edit) => edit.ordinal > 0).length
    const put = sum(earlier, ({ from, to }) => to - from)
    return { relative: relative + delta(before), ordinal: ordinal - taken + put }
  }

  positionOfNew(track: NewMatroskaTrack, packet: number): BlockPosition {
    const edits = this.#edits()
    const at = edits.findIndex((edit) => edit.track === track && packet >= edit.from && packet < edit.to)
    const { start, from, ordinal } = edits[at] as Edit
    const before = edits.slice(0, at)
    const put = sum(before, (edit) => edit.to - edit.from) + packet - from
    const taken = before.filter((edit) => edit.ordinal > 0).length
    return {
      relative: start - this.old.dataStart + delta(before) + blockBytesOf(track, from, packet),
      // A gap is filled before the first block.
      ordinal: Math.max(1, ordinal) - taken + put,
    }
  }

  /** The pieces of the cluster, in order. */
  *pieces(): Generator<BytePiece> {
    const { start, dataStart, end, checksumBytes } = this.old
    const edits = this.#edits()
    if (edits.length === 0) {
      yield inputPiece(start, end)
      return
    }
    const head = this.#newHead()
    yield head ? newBytes(head) : inputPiece(start, dataStart)
    let at = dataStart
    if (checksumBytes > 0) {
      at += checksumBytes
      yield inputPiece(dataStart, at - 4)
      yield { kind: 'checksum', of: CRC_32, covers: end - at + this.#delta() }
    }
    for (const edit of edits) {
      yield inputPiece(at, edit.start)
      if (edit.bytes) yield newBytes(edit.bytes)
      for (let packet = edit.from; packet < edit.to; packet++) {
        yield* edit.track?.blockPieces(packet, this.old.tick) ?? []
      }
      at = edit.end
    }
    yield inputPiece(at, end)
  }

  #delta(): number {
    return (
      this.#blockDelta +
      sum(this.#numbers, ({ id, old, value, bytes }) => makeUint(id, value, bytes).length - old.length)
    )
  }

  /** Null for the head of the input, which states no length. */
  #newHead(): Buffer | null {
    const { statedLength, sizeWidth } = this.old
    return statedLength === null ? null : makeHead(ID.Cluster, statedLength + this.#delta(), sizeWidth)
  }

  /** In the order of the file. */
  #edits(): readonly Edit[] {
    const edits = this.#packetEdits()
    for (const { id, old, value, bytes } of this.#numbers) {
      const made = makeUint(id, value, bytes)
      if (made.length === old.length && value === old.value) continue
      const end = old.start + old.length
      const none = { track: null, from: 0, to: 0, ordinal: 0 }
      edits.push({ start: old.start, end, length: made.length, bytes: made, ...none })
    }
    const isSorted = this.#tracks.length === 1 && edits.every(({ bytes }) => bytes === null)
    return isSorted ? edits : edits.sort((one, other) => one.start - other.start || one.end - other.end)
  }

  #packetEdits(): Edit[] {
    const edits: Edit[] = []
    for (const track of this.#tracks) {
      const { slots } = track
      const last = slots.firstIn(this.#place + 1)
      for (let slot = slots.firstIn(this.#place); slot < last; slot++) {
        const [from, to] = [track.firstIn(slot), track.endIn(slot)]
        const [start, end] = [slots.start(slot), slots.end(slot)]
        if (from === to && start === end) continue
        const length = blockBytesOf(track, from, to)
        edits.push({ start, end, length, bytes: null, track, from, to, ordinal: slots.ordinal(slot) })
      }
    }
    return edits
  }
}

/** Bytes of the blocks of some packets. */
export function blockBytesOf(track: NewMatroskaTrack, from: number, to: number): number {
  let length = 0
  for (let packet = from; packet < to; packet++) length += track.blockBytes(packet)
  return length
}

function newNumber(id: number, old: StatedNumber): NewNumber {
  return { id, old, value: old.value, bytes: old.bodyBytes }
}

function delta(edits: readonly Edit[]): number {
  return sum(edits, ({ start, end, length }) => length - (end - start))
}

function sum<T>(list: readonly T[], numberOf: (each: T) => number): number {
  return list.reduce((total, each) => total + numberOf(each), 0)
}
