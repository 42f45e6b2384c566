import { type BytePiece, type BytePlan, inputPiece, joinRanges, lengthOf } from './byte-plan.js'

/** A range of the input that other bytes replace. */
export interface Replacement {
  readonly start: number
  readonly end: number
  readonly pieces: readonly BytePiece[]
}

/** New bytes in the place of as many old ones. */
export function inPlace(start: number, pieces: readonly BytePiece[]): Replacement {
  return { start, end: start + lengthOf(pieces), pieces }
}

/** The input with changes that do not overlap. @param tracksOf each in file order; called for each reading of the plan */
export function withReplacements(sizeBytes: number, tracksOf: () => readonly Iterable<Replacement>[]): BytePlan {
  function* pieces(): Generator<BytePiece> {
    let at = 0
    for (const { start, end, pieces: made } of inFileOrder(tracksOf())) {
      yield inputPiece(at, start)
      yield* made
      at = end
    }
    yield inputPiece(at, sizeBytes)
  }
  return { pieces: { [Symbol.iterator]: () => joinRanges(pieces()) } }
}

/** Merges the changes of several tracks. */
function* inFileOrder(tracks: readonly Iterable<Replacement>[]): Generator<Replacement> {
  const next = tracks.map((track) => {
    const edits = track[Symbol.iterator]()
    return { edits, edit: nextOf(edits) }
  })
  for (;;) {
    const [first] = next.filter(({ edit }) => edit).sort((one, other) => startOf(one.edit) - startOf(other.edit))
    if (!first?.edit) return
    yield first.edit
    first.edit = nextOf(first.edits)
  }
}

function nextOf(edits: Iterator<Replacement>): Replacement | undefined {
  const { value, done } = edits.next()
  return done ? undefined : value
}

function startOf(edit: Replacement | undefined): number {
  return edit?.start ?? Number.POSITIVE_INFINITY
}
