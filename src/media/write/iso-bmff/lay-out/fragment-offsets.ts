import { childBoxes } from '../../../probe/movie/box.js'
import { type Fragment, TFHD, type TrackFragment } from '../read/fragments.js'
import { type NewFragment, replaceFragment, writeBase, writeRunOffset } from './new-fragments.js'
import type { NewIsoTrack } from './new-iso-track.js'
import { moveAuxiliary } from './offset-tables.js'
import { copiedBox, type Replacements, type Sheet } from './sheet.js'

/** Writes the offsets of a `traf`; returns the first byte after its samples, from which a later `traf` may count. */
type Fill = (sheet: Sheet, impliedBase: number) => number

/**
 * Makes new bytes for the boxes of a `moof` that depend on offsets.
 *
 * @param sheet null as long as only lengths are needed
 */
export function replaceInFragment(
  { moof, tracks: fragments }: Fragment,
  tracks: readonly NewIsoTrack[],
  sheet: Sheet | null,
): Replacements {
  const replacements: Replacements = new Map()
  let implied = sheet?.boxStart(moof.start) ?? 0
  for (const fragment of fragments) {
    const place = tracks.findIndex(({ old }) => old.track.id === fragment.trackId)
    const track = tracks[place]
    const fill = track
      ? fillOfVoice(replaceFragment(track, fragment, replacements), track, place)
      : fillOfKept(fragment, replacements)
    if (sheet) implied = fill(sheet, implied)
  }
  return replacements
}

function fillOfVoice({ fragment, header, runs }: NewFragment, track: NewIsoTrack, place: number): Fill {
  return (sheet, implied) => {
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
  }
}

function fillOfKept(fragment: TrackFragment, into: Replacements): Fill {
  const { header, moof, baseAt, runs } = fragment
  const tfhd = header.baseDataOffset === null ? null : copiedBox(header.box, into)
  const offsets = runs.filter(({ hasOffset }) => hasOffset).map((run) => ({ run, bytes: copiedBox(run.box, into) }))
  const auxiliary = childBoxes(fragment.box, 'saio').map((box) => ({ box, bytes: copiedBox(box, into) }))
  return (sheet, implied) => {
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
  }
}
