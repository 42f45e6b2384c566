import { JobFailedError } from '../../../core/errors.js'
import { type BytePiece, type BytePlan, inputPiece, joinRanges } from '../byte-plan.js'
import { PLAIN_BYTES } from '../structure/transport-pids.js'
import { type Edit, type NewSound, soundEdits } from './lay-out-sound.js'
import { fitsPadding } from './spare-packets.js'
import type { TransportFile } from './transport-file.js'
import { haveSameSizes, unitShares } from './unit-shares.js'

/**
 * Lays out a transport stream in which new frames take the places of old ones. Every other byte stays.
 *
 * @throws {JobFailedError} ERR_ENCODER_OUTPUT
 */
export function layOutTransport(file: TransportFile, sounds: readonly NewSound[]): BytePlan {
  const { sizeBytes, grid, isElastic } = file
  const isAlone = sounds.length === 1
  if (sounds.some((sound) => !fits(file, sound, isAlone))) {
    throw new JobFailedError('ERR_ENCODER_OUTPUT', 'The encoder wrote frames of another size than its bit rate gives.')
  }
  const places = {
    startOf: (number: number) => grid.first + number * grid.size,
    late: isElastic ? null : file.end,
  }
  function* pieces(): Generator<BytePiece> {
    let at = 0
    for (const { start, end, pieces: made } of inFileOrder(sounds.map((sound) => soundEdits(sound, places)))) {
      yield inputPiece(at, start)
      yield* made
      at = end
    }
    yield inputPiece(at, sizeBytes)
  }
  return { pieces: { [Symbol.iterator]: () => joinRanges(pieces()) } }
}

/** False if packets that belong to their places would have to carry other numbers of bytes. @param isAlone no other track needs the padding */
function fits({ isElastic, grid }: TransportFile, { sound, made }: NewSound, isAlone: boolean): boolean {
  if (haveSameSizes(sound, made)) return true
  if (sound.isRigid || grid.size !== PLAIN_BYTES) return false
  const shareOf = unitShares(sound, made)
  const bytesOf = (unit: number) => sound.units.headBytes(unit) + shareOf(unit).to - shareOf(unit).from
  return isElastic || (isAlone && fitsPadding(sound, bytesOf))
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
