import { readUintBE } from '../../number-bytes.js'

/** One entry of an edit list. */
export interface Edit {
  /** In ticks of the movie; 0 in the last edit: to the end. */
  readonly duration: number
  /** First presented tick of the track; -1 for an empty edit. */
  readonly mediaTick: number
  /** 16.16 fixed-point number as written: 0x10000 is normal speed. */
  readonly rate: number
}

export const NORMAL_RATE = 0x1_0000

/** Reads the content of `elst`; empty without one. */
export function readEdits(body: Buffer = Buffer.alloc(0)): readonly Edit[] {
  if (body.length < 8) return []
  const width = body[0] === 1 ? 8 : 4
  const rowBytes = 2 * width + 4
  const count = Math.min(body.readUInt32BE(4), Math.floor((body.length - 8) / rowBytes))
  return Array.from({ length: count }, (_, row) => {
    const at = 8 + row * rowBytes
    return {
      duration: readUintBE(body, at, width),
      mediaTick: width === 8 ? Number(body.readBigInt64BE(at + 8)) : body.readInt32BE(at + 4),
      rate: body.readInt32BE(at + 2 * width),
    }
  })
}

/** The edits that are not empty. */
export function shownEdits(edits: readonly Edit[]): readonly Edit[] {
  return edits.filter(isShown)
}

/** True if the last edit lasts to the end. */
export function isOpen(edits: readonly Edit[]): boolean {
  return shownEdits(edits).at(-1)?.duration === 0
}

/** True if an empty edit lies between two others. */
export function hasHole(edits: readonly Edit[]): boolean {
  const from = edits.findIndex(isShown)
  return edits.slice(from, from + shownEdits(edits).length).some((edit) => !isShown(edit))
}

const isShown = ({ mediaTick }: Edit) => mediaTick >= 0
