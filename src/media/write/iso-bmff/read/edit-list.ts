import { writeUintBE } from '../../../number-bytes.js'
import { makeBox, makeFullBox } from '../../../probe/movie/box.js'
import { type Edit, hasHole, NORMAL_RATE, shownEdits } from '../../../probe/movie/edits.js'

/** Makes `elst`, in 64 bits only if it must. */
export function makeEdits(edits: readonly Edit[]): Buffer {
  const isLong = edits.some(({ duration, mediaTick }) => duration > 0xffff_ffff || mediaTick > 0x7fff_ffff)
  const width = isLong ? 8 : 4
  const rowBytes = 2 * width + 4
  const fields = Buffer.alloc(4 + edits.length * rowBytes)
  fields.writeUInt32BE(edits.length, 0)
  for (const [row, { duration, mediaTick, rate }] of edits.entries()) {
    const at = 4 + row * rowBytes
    writeUintBE(fields, duration, at, width)
    if (isLong) fields.writeBigInt64BE(BigInt(mediaTick), at + 8)
    else fields.writeInt32BE(mediaTick, at + 4)
    fields.writeInt32BE(rate, at + 2 * width)
  }
  return makeFullBox('elst', isLong ? 1 : 0, 0, fields)
}

/** Makes `edts` around {@link makeEdits}. */
export function makeEditBox(edits: readonly Edit[]): Buffer {
  return makeBox('edts', makeEdits(edits))
}

/**
 * Returns the reason why audio with these edits cannot be replaced. New packets hold the presented audio, in order.
 * Undefined if it can.
 *
 * @param timeScale ticks per second of the track
 * @param movieTimeScale ticks per second of the movie
 */
export function unfitEdits(edits: readonly Edit[], timeScale: number, movieTimeScale: number): string | undefined {
  const shown = shownEdits(edits)
  const [first] = shown
  if (edits.length > 0 && !first) return 'its edit list shows nothing'
  if (!first) return undefined
  if (shown.some(({ rate }) => rate !== NORMAL_RATE)) return 'its edit list plays a part at another speed'
  if (hasHole(edits)) return 'its edit list has a hole in the middle'
  const isOneRun = shown.every((edit, place) => {
    const before = shown[place - 1]
    if (!before) return true
    // Each edit continues at the end of the previous one, within a tick of the coarser clock.
    const offSec = (edit.mediaTick - before.mediaTick) / timeScale - before.duration / movieTimeScale
    return Math.abs(offSec) <= 1 / timeScale + 1 / movieTimeScale
  })
  return isOneRun ? undefined : `its edit list is put together from ${shown.length} parts`
}
