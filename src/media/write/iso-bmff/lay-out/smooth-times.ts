import { readUintBE } from '../../../number-bytes.js'
import type { Box } from '../../../probe/movie/box.js'
import { firstAtLeast } from '../../first-at-least.js'
import type { TrackFragment } from '../read/fragments.js'
import type { NewIsoTrack } from './new-iso-track.js'
import type { Replacements } from './sheet.js'

/** `tfxd`: the time and the duration of a fragment, as Smooth Streaming states them (MS-SSTR 2.2.4.4). */
const OWN_TIME = '6d1d9b0542d544e680e2141daff757b2'
/** `tfrf`: those of the fragments that follow (MS-SSTR 2.2.4.5). */
const LATER_TIMES = 'd4807ef2ca3946958e5426cb9e46a79f'
const EXTENDED_TYPE_BYTES = 16

/** True if a box repeats the times of fragments for Smooth Streaming. */
export function isSmoothTime({ extendedType }: Box): boolean {
  return extendedType === OWN_TIME || extendedType === LATER_TIMES
}

/** Moves the times that a fragment states for Smooth Streaming to the new packets. */
export function replaceSmoothTimes(track: NewIsoTrack, fragment: TrackFragment, into: Replacements): void {
  const boxes = fragment.box.children.filter(isSmoothTime)
  const own = boxes.find(({ extendedType }) => extendedType === OWN_TIME)
  const [ownRow] = own ? rowsOf(own) : []
  // These times may count from elsewhere than those of the packets.
  const offTicks = own && ownRow ? ownRow.tick - fragment.startTick : 0
  for (const box of boxes) {
    const bytes = Buffer.from(box.bytes ?? [])
    for (const { at, width, tick, ticks } of rowsOf(box)) {
      const start = movedTick(track, tick - offTicks)
      writeTick(bytes, start + offTicks, at, width)
      writeTick(bytes, movedTick(track, tick + ticks - offTicks) - start, at + width, width)
    }
    into.set(box, [bytes])
  }
}

/** Time of the first new packet in the place of the old ones from a tick on. */
function movedTick({ old: { runs }, deals, donor, tickOf }: NewIsoTrack, oldTick: number): number {
  const place = firstAtLeast(runs.count, runs.startTick, oldTick)
  return tickOf(place < runs.count ? deals.at(place).from : donor.packets.count)
}

/** The rows that a box states: a time and a duration each. */
function rowsOf({ bytes, headerBytes, extendedType }: Box) {
  const body = bytes ?? Buffer.alloc(0)
  const versionAt = headerBytes + EXTENDED_TYPE_BYTES
  const width = body[versionAt] === 1 ? 8 : 4
  const isOwn = extendedType === OWN_TIME
  const rowsAt = versionAt + (isOwn ? 4 : 5)
  const fitting = Math.max(0, Math.floor((body.length - rowsAt) / (2 * width)))
  const count = Math.min(isOwn ? 1 : (body[versionAt + 4] ?? 0), fitting)
  return Array.from({ length: count }, (_, row) => {
    const at = rowsAt + 2 * width * row
    const tick = width === 8 ? Number(body.readBigInt64BE(at)) : body.readUInt32BE(at)
    return { at, width, tick, ticks: readUintBE(body, at + width, width) }
  })
}

function writeTick(bytes: Buffer, tick: number, at: number, width: number): void {
  if (width === 8) bytes.writeBigInt64BE(BigInt(tick), at)
  else bytes.writeUInt32BE(Math.max(0, tick), at)
}
