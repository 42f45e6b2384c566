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

/** Every structure of an input. The entries partition its bytes: no gap and no overlap. */
export type Census = readonly CensusEntry[]

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

/** Reason why the output lacks the Content Credentials of the input. */
export const SIGNS_OLD_BYTES = 'these Content Credentials sign the old bytes'

/** A range of the input that no entry, or more than one, covers. */
export interface CensusFault {
  readonly kind: 'gap' | 'overlap'
  readonly start: number
  readonly length: number
}

/** Finds the bytes of an input that a census does not cover exactly once; empty if it is complete. */
export function censusFaults(census: Census, sizeBytes: number): readonly CensusFault[] {
  const faults: CensusFault[] = []
  let end = 0
  const inOrder = census.filter(({ length }) => length > 0).sort((one, other) => one.start - other.start)
  for (const { start, length } of [...inOrder, { start: sizeBytes, length: 0 }]) {
    if (start > end) faults.push({ kind: 'gap', start: end, length: start - end })
    if (start < end) faults.push({ kind: 'overlap', start, length: end - start })
    end = Math.max(end, start + length)
  }
  return faults
}
