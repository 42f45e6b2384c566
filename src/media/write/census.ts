import { Column, sortedColumns } from './column.js'

/** Fate of a structure of the input. */
export type StructureFate =
  /** The same bytes. */
  | 'kept'
  /** New bytes that state the same facts for the new file: sizes, tables, the audio itself. */
  | 'rewritten'
  /** Not in the output. */
  | 'lost'

/** A structure of the input: a box, chunk, element, block, tag or KLV, known or not. */
export interface CensusEntry {
  /** Names from the outside in, e.g. `moov/udta/meta`, `RIFF/bext`, `Segment/Tags`. */
  readonly path: string
  readonly fate: StructureFate
  /** The change and its cause; required unless the fate is `kept`. */
  readonly reason: string | null
  /** First byte in the input. */
  readonly start: number
  /** Bytes; a structure whose parts are listed counts with its header alone. */
  readonly length: number
}

/**
 * Every structure of an input, which may be made while they are read: a film in fragments can have a million. The entries
 * partition its bytes: no gap and no overlap.
 */
export type Census = Iterable<CensusEntry>

/** A structure that keeps its bytes. */
export function kept(path: string, start: number, length: number): CensusEntry {
  return { path, fate: 'kept', reason: null, start, length }
}

/** A structure that is rewritten, with the change. */
export function rewritten(path: string, start: number, length: number, reason: string): CensusEntry {
  return { path, fate: 'rewritten', reason, start, length }
}

/** A structure that the output lacks, with the reason. */
export function lost(path: string, start: number, length: number, reason: string): CensusEntry {
  return { path, fate: 'lost', reason, start, length }
}

/** Parts in file order, with others for the bytes before, between and behind them in a range. */
export function* withGaps<T extends Pick<CensusEntry, 'start' | 'length'>>(
  parts: Iterable<T>,
  [start, end]: readonly [start: number, end: number],
  gapOf: (start: number, length: number) => T,
): Generator<T> {
  let at = start
  for (const part of parts) {
    if (part.start > at) yield gapOf(at, part.start - at)
    yield part
    at = part.start + part.length
  }
  if (end > at) yield gapOf(at, end - at)
}

/** Reason why the output lacks the Content Credentials of the input. */
export const SIGNS_OLD_BYTES = 'these Content Credentials sign the old bytes'

/** Most entries of a list that people read: a receipt of millions cannot be written, and nobody would read it. */
export const MOST_LISTED = 100_000
/** Path of structures whose kinds are too many to be listed. */
const OTHERS = 'others'

/**
 * The entries as data. If there are more than {@link MOST_LISTED}, those of one path, fate and reason become one. It
 * starts where the first of them does, and is as long as all of them.
 */
export function listCensus(census: Census): readonly CensusEntry[] {
  const listed: CensusEntry[] = []
  for (const entry of census) {
    if (listed.length === MOST_LISTED) return listKinds(census)
    listed.push(entry)
  }
  return listed
}

function listKinds(census: Census): readonly CensusEntry[] {
  const kinds = new Map<string, CensusEntry>()
  const keyOf = ({ path, fate, reason }: CensusEntry) => `${fate} ${path} ${reason ?? ''}`
  for (const entry of census) {
    const isListed = kinds.size < MOST_LISTED || kinds.has(keyOf(entry))
    const own = isListed ? entry : { ...entry, path: OTHERS }
    const first = kinds.get(keyOf(own))
    kinds.set(keyOf(own), first ? { ...first, length: first.length + own.length } : own)
  }
  return [...kinds.values()]
}

/** A range of the input that no entry, or more than one, covers. */
interface CensusFault {
  readonly kind: 'gap' | 'overlap'
  readonly start: number
  readonly length: number
}

/** Finds the bytes of an input that a census does not cover exactly once; empty if it is complete. */
export function censusFaults(census: Census, sizeBytes: number): readonly CensusFault[] {
  const faults: CensusFault[] = []
  let end = 0
  const [starts, ends] = rangesOf(census)
  for (let place = 0; place <= starts.length; place++) {
    const start = starts[place] ?? sizeBytes
    if (start > end) faults.push({ kind: 'gap', start: end, length: start - end })
    if (start < end) faults.push({ kind: 'overlap', start, length: end - start })
    end = Math.max(end, ends[place] ?? end)
  }
  return faults
}

/** The bytes of all structures by their start. */
function rangesOf(census: Census): readonly [starts: Float64Array, ends: Float64Array] {
  const [starts, ends] = [Column.floats(), Column.floats()]
  for (const { start, length } of census) {
    if (length === 0) continue
    starts.push(start)
    ends.push(start + length)
  }
  return sortedColumns([starts.values(), ends.values()], (one, other) => starts.get(one) - starts.get(other))
}
