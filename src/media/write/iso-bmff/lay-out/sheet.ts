import type { Box } from '../../../probe/movie/box.js'
import type { NewIsoTrack } from './new-iso-track.js'

/** New bytes for boxes of the input; an empty list leaves the box out. */
export type Replacements = Map<Box, readonly Buffer[]>

/** A copy of a box whose bytes replace it once they are filled in. */
export function copiedBox(box: Box, into: Replacements): Buffer {
  const bytes = Buffer.from(box.bytes ?? Buffer.alloc(0))
  into.set(box, [bytes])
  return bytes
}

/** Places in an output, known after every piece is laid out. */
export interface Sheet {
  readonly tracks: readonly NewIsoTrack[]
  /** Offset of the packets of a run, by track and place among its runs. */
  readonly runStart: (track: number, run: number) => number
  /** Offset of a top-level box, by its first byte in the input. Also for the end of the file. */
  readonly boxStart: (inputOffset: number) => number | undefined
  /** Offset of a byte of the input; undefined if the output lacks it. */
  readonly mapped: (inputOffset: number) => number | undefined
}

/** A box with offsets that are filled in after the layout. */
export interface OffsetTable {
  readonly box: Box
  /** Writes the offsets; false if they need a box with wider fields. */
  readonly fill: (sheet: Sheet) => boolean
}
