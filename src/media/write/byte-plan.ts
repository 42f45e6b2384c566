/** One piece of an output, in output order. Lengths in bytes. */
export type BytePiece =
  /** A range of the input, copied as it is. */
  | { readonly kind: 'input'; readonly start: number; readonly length: number }
  /** New bytes: sizes, tables, headers. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** A range of a side file that holds newly encoded packets. `donor` is its place in the list of donors. */
  | { readonly kind: 'donor'; readonly donor: number; readonly start: number; readonly length: number }

/** An output as a list of pieces. Neighbours that continue each other are one piece. */
export interface BytePlan {
  readonly pieces: readonly BytePiece[]
}

/** Length of a piece in bytes. */
export function pieceLength(piece: BytePiece): number {
  return piece.kind === 'bytes' ? piece.bytes.length : piece.length
}

/** Size of the output in bytes. */
export function planSize({ pieces }: BytePlan): number {
  return pieces.reduce((sum, piece) => sum + pieceLength(piece), 0)
}

/** Builds a plan: drops empty pieces and joins neighbours that continue each other. */
export function bytePlan(pieces: Iterable<BytePiece>): BytePlan {
  const joined: BytePiece[] = []
  let fresh: Uint8Array[] = []
  const endFresh = () => {
    if (fresh.length > 0) joined.push({ kind: 'bytes', bytes: fresh.length === 1 ? one(fresh) : Buffer.concat(fresh) })
    fresh = []
  }
  for (const piece of pieces) {
    if (pieceLength(piece) === 0) continue
    if (piece.kind === 'bytes') {
      fresh.push(piece.bytes)
      continue
    }
    endFresh()
    const last = joined.at(-1)
    if (last && continues(last, piece)) joined[joined.length - 1] = { ...last, length: last.length + piece.length }
    else joined.push(piece)
  }
  endFresh()
  return { pieces: joined }
}

/** Maps bytes of the input to their places in an output. */
export interface OffsetMap {
  /**
   * Offset in the output of the input's byte at `inputOffset`. The end of a range maps to the end of its copy if
   * nothing else of the input begins there. Undefined if that byte is not in the output.
   */
  readonly outputOffset: (inputOffset: number) => number | undefined
  /** True if the output has that range of the input as one run of bytes. */
  readonly keeps: (start: number, length: number) => boolean
}

/** Reads the ranges of the input out of a plan. A byte that is in the output twice maps to its first place. */
export function offsetMap({ pieces }: BytePlan): OffsetMap {
  const ranges: { readonly start: number; readonly end: number; readonly output: number }[] = []
  let output = 0
  for (const piece of pieces) {
    if (piece.kind === 'input') ranges.push({ start: piece.start, end: piece.start + piece.length, output })
    output += pieceLength(piece)
  }
  ranges.sort((one, other) => one.start - other.start || other.output - one.output)
  const rangeOf = (offset: number) => ranges[lastStartingBy(ranges, offset)]
  return {
    outputOffset: (inputOffset) => {
      const range = rangeOf(inputOffset)
      return range && inputOffset <= range.end ? range.output + inputOffset - range.start : undefined
    },
    keeps: (start, length) => start + length <= (rangeOf(start)?.end ?? -1),
  }
}

function continues(last: BytePiece, next: BytePiece): last is Exclude<BytePiece, { readonly kind: 'bytes' }> {
  if (last.kind === 'bytes' || next.kind === 'bytes' || last.start + last.length !== next.start) return false
  if (last.kind === 'donor') return next.kind === 'donor' && last.donor === next.donor
  return next.kind === 'input'
}

function one<T>(list: readonly T[]): T {
  return list[0] as T
}

function lastStartingBy(ranges: readonly { readonly start: number }[], offset: number): number {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ranges[middle]?.start ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return low - 1
}
