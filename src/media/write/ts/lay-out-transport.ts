import { JobFailedError } from '../../../core/errors.js'
import { type BytePiece, type BytePlan, inputPiece, joinRanges } from '../byte-plan.js'
import { type Edit, type NewSound, soundEdits } from './lay-out-sound.js'
import type { TransportFile } from './transport-file.js'
import { haveSameSizes } from './unit-shares.js'

/**
 * Lays out a transport stream in which new frames take the places of old ones. Every other byte stays.
 *
 * @throws {JobFailedError} ERR_ENCODER_OUTPUT
 */
export function layOutTransport(file: TransportFile, sounds: readonly NewSound[]): BytePlan {
  const { sizeBytes, grid } = file
  if (sounds.some((sound) => !fits(file, sound))) {
    throw new JobFailedError('ERR_ENCODER_OUTPUT', 'The encoder wrote frames of another size than its bit rate gives.')
  }
  const startOf = (number: number) => grid.first + number * grid.size
  function* pieces(): Generator<BytePiece> {
    let at = 0
    for (const { start, end, pieces: made } of inFileOrder(sounds.map((sound) => soundEdits(sound, startOf)))) {
      yield inputPiece(at, start)
      yield* made
      at = end
    }
    yield inputPiece(at, sizeBytes)
  }
  return { pieces: { [Symbol.iterator]: () => joinRanges(pieces()) } }
}

/** False if packets that belong to their places would have to carry other numbers of bytes. */
function fits({ isElastic }: TransportFile, { sound, made }: NewSound): boolean {
  return (isElastic && !sound.isRigid) || haveSameSizes(sound, made)
}

/** Merges the changes of several tracks. */
function* inFileOrder(tracks: readonly Generator<Edit>[]): Generator<Edit> {
  const next = tracks.map((track) => ({ track, edit: nextOf(track) }))
  for (;;) {
    const [first] = next.filter(({ edit }) => edit).sort((one, other) => startOf(one.edit) - startOf(other.edit))
    if (!first?.edit) return
    yield first.edit
    first.edit = nextOf(first.track)
  }
}

function nextOf(track: Generator<Edit>): Edit | undefined {
  const { value, done } = track.next()
  return done ? undefined : value
}

function startOf(edit: Edit | undefined): number {
  return edit?.start ?? Number.POSITIVE_INFINITY
}
