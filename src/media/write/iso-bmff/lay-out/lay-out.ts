import { JobFailedError } from '../../../../core/errors.js'
import { type Box, childAt, endOf, resizedHeader } from '../../../probe/movie/box.js'
import { writeChunkOffsets } from '../../../probe/movie/make-tables.js'
import { type BytePiece, type BytePlan, bytePlan, offsetMap, pieceLength } from '../../byte-plan.js'
import { oldFacts, replaceOldFacts } from '../old-facts.js'
import type { DonorTrack } from '../read/donor-track.js'
import type { IsoFile } from '../read/iso-file.js'
import type { OldRun } from '../read/voice-runs.js'
import { fillFragments, fragmentPatches } from './fragment-offsets.js'
import { replaceMovieHeader, replaceTables } from './new-tables.js'
import { type NewTrack, newTrack } from './new-track.js'
import { fillOffsets, offsetTables } from './offset-tables.js'
import type { OffsetTable, Replacements, Sheet } from './sheet.js'

/** Lays out a file in which donors supply the packets of some tracks. @param voices tracks of the movie, by donor */
export function layOutFile(file: IsoFile, voices: readonly number[], donors: readonly DonorTrack[]): BytePlan {
  const tracks = voices.map((voice, place) => {
    const old = file.oldTracks.get(voice)
    const donor = donors[place]
    if (!old || !donor) throw new RangeError(`There is no donor for track ${voice}.`)
    return newTrack(old, donor, file.movie.timeScale)
  })
  // If offsets need more than 32 bits, the index grows and everything moves again.
  for (const wide = new Set<Box>(); ; ) {
    const { plan, narrow } = layOutOnce(file, voices, tracks, wide)
    if (narrow.length === 0) return plan
    for (const box of narrow) {
      if (box.type !== 'stco' || wide.has(box)) throw tooNarrow(box)
      wide.add(box)
    }
  }
}

function tooNarrow({ type, start }: Box): JobFailedError {
  return new JobFailedError('ERR_OFFSETS', `The box ${type} at byte ${start} has no room for the new offsets.`)
}

/** The plan, with the boxes whose fields are too narrow for it. */
function layOutOnce(
  file: IsoFile,
  voices: readonly number[],
  tracks: readonly NewTrack[],
  wide: ReadonlySet<Box>,
): { readonly plan: BytePlan; readonly narrow: readonly Box[] } {
  const replacements: Replacements = new Map()
  const own = tracks.flatMap((track, place) => ownTable(file, track, place, wide, replacements))
  replaceMovieHeader(file, voices, replacements)
  replaceOldFacts(oldFacts(file, voices), tracks, replacements)
  const patches = fragmentPatches(file, tracks, replacements)
  const tables = [...own, ...offsetTables(file, tracks, replacements, wide)]
  const draft = new Draft(file, tracks, replacements)
  const sheet = draft.sheet()
  fillFragments(patches, sheet)
  const narrow = fillOffsets(tables, sheet)
  return { plan: bytePlan(draft.pieces), narrow }
}

/** The chunk offsets of a replaced track. */
function ownTable(
  file: IsoFile,
  track: NewTrack,
  place: number,
  wide: ReadonlySet<Box>,
  into: Replacements,
): readonly OffsetTable[] {
  const box = childAt(track.old.track.stbl, 'stco') ?? childAt(track.old.track.stbl, 'co64')
  const isWide = box !== undefined && (box.type === 'co64' || wide.has(box))
  const bytes = replaceTables(track, file.movie, isWide, into)
  if (!box || !bytes) return []
  const fill = ({ runStart }: Sheet) => {
    const filled = track.deals.flatMap(({ from, to }, run) => (to > from ? [runStart(place, run)] : []))
    return writeChunkOffsets(bytes, filled)
  }
  return [{ box, fill }]
}

/** Old packets, with their place among the runs of a replaced track. */
interface Removed {
  readonly run: OldRun
  readonly track: number
  readonly place: number
}

/** The pieces of an output in order, with their offsets. */
class Draft {
  readonly pieces: BytePiece[] = []
  readonly #tracks: readonly NewTrack[]
  readonly #boxStarts = new Map<number, number>()
  readonly #runStarts: readonly Float64Array[]
  #at = 0

  constructor({ structure }: IsoFile, tracks: readonly NewTrack[], replacements: Replacements) {
    this.#tracks = tracks
    this.#runStarts = tracks.map(({ deals }) => new Float64Array(deals.length))
    const removed = tracks
      .flatMap(({ old }, track) => old.runs.map((run, place) => ({ run, track, place })))
      .sort((one, other) => one.run.start - other.run.start)
    let next = 0
    for (const box of structure.boxes) {
      this.#boxStarts.set(box.start, this.#at)
      const from = next
      while (next < removed.length && (removed[next] as Removed).run.start < endOf(box)) next += 1
      if (next > from) this.#addData(box, removed.slice(from, next))
      else this.#add(boxPieces(box, replacements))
    }
    this.#boxStarts.set(structure.boxesEnd, this.#at)
    this.#add([{ kind: 'input', start: structure.boxesEnd, length: structure.sizeBytes - structure.boxesEnd }])
  }

  sheet(): Sheet {
    return {
      tracks: this.#tracks,
      runStart: (track, run) => this.#runStarts[track]?.[run] ?? 0,
      boxStart: (inputOffset) => this.#boxStarts.get(inputOffset),
      mapped: offsetMap({ pieces: this.pieces }).outputOffset,
    }
  }

  /** A box of media data: new packets in the places of old ones, all other bytes unchanged. */
  #addData(box: Box, inside: readonly Removed[]): void {
    const lengths = inside.reduce((sum, { run, track, place }) => {
      return sum + pieceLength(this.#donorPiece(track, place)) - run.bytes
    }, box.length - box.headerBytes)
    this.#add([{ kind: 'bytes', bytes: resizedHeader(box, lengths) }])
    let at = box.start + box.headerBytes
    for (const { run, track, place } of inside) {
      this.#add([{ kind: 'input', start: at, length: run.start - at }])
      ;(this.#runStarts[track] as Float64Array)[place] = this.#at
      this.#add([this.#donorPiece(track, place)])
      at = run.start + run.bytes
    }
    this.#add([{ kind: 'input', start: at, length: endOf(box) - at }])
  }

  #donorPiece(donor: number, place: number): BytePiece {
    const { donor: source, deals } = this.#tracks[donor] as NewTrack
    const { from, to } = deals[place] ?? { from: 0, to: 0 }
    const start = source.packets.offsetOf(from)
    return { kind: 'donor', donor, start, length: source.packets.offsetOf(to) - start }
  }

  #add(pieces: readonly BytePiece[]): void {
    for (const piece of pieces) {
      if (pieceLength(piece) === 0) continue
      this.pieces.push(piece)
      this.#at += pieceLength(piece)
    }
  }
}

/** A box with the new bytes of its children. A box without new bytes is one range of the input. */
function boxPieces(box: Box, replacements: Replacements): readonly BytePiece[] {
  const made = replacements.get(box)
  if (made) return made.map((bytes) => ({ kind: 'bytes', bytes }))
  if (!hasReplaced(box, replacements)) return [{ kind: 'input', start: box.start, length: box.length }]
  const fieldsAt = box.start + box.headerBytes
  const last = box.children.at(-1)
  const restAt = last ? endOf(last) : fieldsAt + box.prefixBytes
  const body: readonly BytePiece[] = [
    { kind: 'input', start: fieldsAt, length: box.prefixBytes },
    ...box.children.flatMap((child) => boxPieces(child, replacements)),
    { kind: 'input', start: restAt, length: endOf(box) - restAt },
  ]
  const length = body.reduce((sum, piece) => sum + pieceLength(piece), 0)
  return [{ kind: 'bytes', bytes: resizedHeader(box, length) }, ...body]
}

function hasReplaced(box: Box, replacements: Replacements): boolean {
  return box.children.some((child) => replacements.has(child) || hasReplaced(child, replacements))
}
