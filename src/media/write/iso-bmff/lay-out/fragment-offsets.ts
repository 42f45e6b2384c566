import { childrenOf } from '../../../probe/movie/box.js'
import { type Fragment, TFHD, type TrackFragment } from '../read/fragments.js'
import { type NewFragment, replaceFragment, writeBase, writeRunOffset } from './new-fragments.js'
import type { NewTrack } from './new-track.js'
import { moveAuxiliary } from './offset-tables.js'
import type { Replacements, Sheet } from './sheet.js'

/** A `traf` whose offsets are not filled in yet. */
interface FragmentPatch {
  /** Writes the offsets; returns the first byte after its samples, from which a later `traf` may count. */
  readonly fill: (sheet: Sheet, impliedBase: number) => number
}

/**
 * Makes new bytes for the boxes of a `moof` that depend on offsets.
 *
 * @param sheet null as long as only lengths are needed
 */
export function replaceInFragment(
  { moof, tracks: fragments }: Fragment,
  tracks: readonly NewTrack[],
  sheet: Sheet | null,
): Replacements {
  const replacements: Replacements = new Map()
  let implied = sheet?.boxStart(moof.start) ?? 0
  for (const fragment of fragments) {
    const place = tracks.findIndex(({ old }) => old.track.id === fragment.trackId)
    const track = tracks[place]
    const { fill } = track
      ? voicePatch(replaceFragment(track, fragment, replacements), track, place)
      : keptPatch(fragment, replacements)
    if (sheet) implied = fill(sheet, implied)
  }
  return replacements
}

function voicePatch({ fragment, header, runs }: NewFragment, track: NewTrack, place: number): FragmentPatch {
  return {
    fill: (sheet, implied) => {
      const isImplied = fragment.header.baseDataOffset === null && (fragment.header.flags & TFHD.baseIsMoof) === 0
      const base = isImplied ? implied : (sheet.boxStart(fragment.moof.start) ?? 0)
      writeBase(header, base)
      let end = base
      for (const run of runs) {
        const start = sheet.runStart(place, run.place)
        const { from, to } = track.deals.at(run.place)
        writeRunOffset(run, start - base)
        end = start + track.donor.packets.offsetOf(to) - track.donor.packets.offsetOf(from)
      }
      return end
    },
  }
}

function keptPatch(fragment: TrackFragment, into: Replacements): FragmentPatch {
  const { header, moof, baseAt, runs } = fragment
  const copy = (bytes: Buffer | null) => Buffer.from(bytes ?? Buffer.alloc(0))
  const tfhd = header.baseDataOffset === null ? null : copy(header.box.bytes)
  if (tfhd) into.set(header.box, [tfhd])
  const offsets = runs.filter(({ hasOffset }) => hasOffset).map((run) => ({ run, bytes: copy(run.box.bytes) }))
  for (const { run, bytes } of offsets) into.set(run.box, [bytes])
  const auxiliary = childrenOf(fragment.box, 'saio').map((box) => ({ box, bytes: copy(box.bytes) }))
  for (const { box, bytes } of auxiliary) into.set(box, [bytes])
  return {
    fill: (sheet, implied) => {
      const moofAt = sheet.boxStart(moof.start) ?? moof.start
      const isMoof = (header.flags & TFHD.baseIsMoof) !== 0
      const stated = baseAt === moof.start ? moofAt : (sheet.mapped(baseAt) ?? moofAt)
      const base = header.baseDataOffset !== null ? stated : isMoof ? moofAt : implied
      if (tfhd) tfhd.writeBigUInt64BE(BigInt(base), header.box.headerBytes + 8)
      for (const { run, bytes } of offsets) {
        const start = sheet.mapped(run.start) ?? base
        bytes.writeInt32BE(start - base, run.box.headerBytes + 8)
      }
      for (const { box, bytes } of auxiliary) {
        moveAuxiliary(bytes, box, (offset) => (sheet.mapped(baseAt + offset) ?? base + offset) - base)
      }
      const last = runs.at(-1)
      return last ? (sheet.mapped(last.start) ?? base) + last.bytes : base
    },
  }
}
