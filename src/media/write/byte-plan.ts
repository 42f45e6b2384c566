import { crc32 } from 'node:zlib'
import { Column, sortedColumns } from './column.js'
import { firstAtLeast } from './first-at-least.js'

/** One piece of an output, in output order. Lengths in bytes. */
export type BytePiece =
  /** A range of the input, copied as it is. */
  | { readonly kind: 'input'; readonly start: number; readonly length: number }
  /** New bytes: sizes, tables, headers. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** A range of a side file that holds newly encoded packets. `donor` is its place in the list of donors. */
  | { readonly kind: 'donor'; readonly donor: number; readonly start: number; readonly length: number }
  /** A checksum of the `covers` bytes that follow it, in little-endian order. No other piece of its kind is among them. */
  | { readonly kind: 'checksum'; readonly of: RunningChecksum; readonly covers: number }

/** A checksum over bytes that come piece by piece. */
export interface RunningChecksum {
  readonly start: number
  /** The checksum of all bytes so far and of some more. */
  readonly add: (bytes: Uint8Array, value: number) => number
}

/** The checksum of Matroska (ITU-T V.42). */
export const CRC_32: RunningChecksum = { start: 0, add: (bytes, value) => crc32(bytes, value) }

/** An output as a list of pieces, which may be made while they are read. Each reading gives the same pieces. */
export interface BytePlan {
  readonly pieces: Iterable<BytePiece>
}

/** A range of the input, by its first byte and the first one behind it. */
export function inputPiece(start: number, end: number): Extract<BytePiece, { readonly kind: 'input' }> {
  return { kind: 'input', start, length: end - start }
}

/** New bytes of an output. */
export function newBytes(bytes: Uint8Array): Extract<BytePiece, { readonly kind: 'bytes' }> {
  return { kind: 'bytes', bytes }
}

const CHECKSUM_BYTES = 4

/** Length of a piece in bytes. */
export function pieceLength(piece: BytePiece): number {
  if (piece.kind === 'bytes') return piece.bytes.length
  return piece.kind === 'checksum' ? CHECKSUM_BYTES : piece.length
}

/** Bytes of some pieces together. */
export function lengthOf(pieces: Iterable<BytePiece>): number {
  let length = 0
  for (const piece of pieces) length += pieceLength(piece)
  return length
}

/** Builds a plan that is held in memory: drops empty pieces and joins neighbours that continue each other. */
export function bytePlan(pieces: Iterable<BytePiece>) {
  return { pieces: [...joinRanges(pieces)] }
}

/** Joins ranges that continue each other, and drops empty pieces, without a list of them all. */
export function* joinRanges(pieces: Iterable<BytePiece>): Generator<BytePiece> {
  let waiting: BytePiece | null = null as BytePiece | null
  for (const piece of pieces) {
    if (pieceLength(piece) === 0) continue
    if (waiting && continues(waiting, piece)) {
      waiting = { ...waiting, length: waiting.length + pieceLength(piece) }
      continue
    }
    if (waiting) yield waiting
    waiting = piece
  }
  if (waiting) yield waiting
}

/** Maps bytes of the input to their places in an output. A byte that is in the output twice maps to its first place. */
export function offsetMap({ pieces }: BytePlan) {
  const [starts, ends, outputs] = inputRanges(pieces)
  const placeOf = (offset: number) => firstAtLeast(starts.length, (place) => starts[place] as number, offset + 1) - 1
  return {
    /**
     * Offset in the output of the input's byte at `inputOffset`. The end of a range maps to the end of its copy if
     * nothing else of the input begins there. Undefined if that byte is not in the output.
     */
    outputOffset: (inputOffset: number): number | undefined => {
      const place = placeOf(inputOffset)
      const [start, end, output] = [starts[place], ends[place], outputs[place]]
      if (start === undefined || end === undefined || output === undefined || inputOffset > end) return undefined
      return output + inputOffset - start
    },
    /** True if the output has that range of the input as one run of bytes. */
    keeps: (start: number, length: number): boolean => start + length <= (ends[placeOf(start)] ?? -1),
  }
}

/** The ranges of the input by their start. Columns, because a film has a range for each packet. */
function inputRanges(pieces: Iterable<BytePiece>) {
  const [starts, ends, outputs] = [Column.floats(), Column.floats(), Column.floats()]
  let output = 0
  for (const piece of pieces) {
    if (piece.kind === 'input' && piece.length > 0) {
      starts.push(piece.start)
      ends.push(piece.start + piece.length)
      outputs.push(output)
    }
    output += pieceLength(piece)
  }
  const byStart = (one: number, other: number) =>
    starts.get(one) - starts.get(other) || outputs.get(other) - outputs.get(one)
  return sortedColumns([starts.values(), ends.values(), outputs.values()] as const, byStart)
}

function continues(last: BytePiece, next: BytePiece): last is Extract<BytePiece, { readonly length: number }> {
  if (last.kind === 'donor' && next.kind === 'donor') {
    return last.donor === next.donor && last.start + last.length === next.start
  }
  return last.kind === 'input' && next.kind === 'input' && last.start + last.length === next.start
}
