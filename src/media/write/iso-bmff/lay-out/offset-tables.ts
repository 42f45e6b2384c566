import { readUintBE, writeUintBE } from '../../../number-bytes.js'
import { type Box, childAt, childBoxes, withDescendants } from '../../../probe/movie/box.js'
import { makeChunkOffsets, writeChunkOffsets } from '../../../probe/movie/make-tables.js'
import { chunkOffsets } from '../../../probe/movie/sample-table.js'
import type { IsoFile } from '../read/iso-file.js'
import { liesHere } from '../read/movie.js'
import { itemOffsets } from './item-offsets.js'
import type { NewIsoTrack } from './new-iso-track.js'
import { randomAccess, segmentIndex } from './segment-index.js'
import { copiedBox, type OffsetTable, type Replacements, type Sheet } from './sheet.js'

/** New bytes for boxes with offsets, except of replaced tracks and fragments. @param wide tables of 64 bits */
export function offsetTables(
  { movie, structure }: IsoFile,
  tracks: readonly NewIsoTrack[],
  replacements: Replacements,
  wide: ReadonlySet<Box>,
): readonly OffsetTable[] {
  const kept = movie.tracks.filter((track) => !tracks.some(({ old }) => old.track === track) && liesHere(track))
  const tables = [
    ...kept.flatMap(({ stbl }) => chunkTable(stbl, wide, replacements)),
    ...kept.flatMap(({ stbl }) => childBoxes(stbl, 'saio').map((box) => auxiliaryTable(box, replacements))),
    ...childBoxes(movie.box, 'gps ').map((box) => dashcamTable(box, replacements)),
  ]
  for (const top of structure.boxes) {
    if (top.type === 'moof') continue
    for (const box of withDescendants(top)) {
      if (box.type === 'iloc') tables.push(itemOffsets(box, replacements))
      if (box.type === 'tfra') tables.push(randomAccess(box, movie, replacements))
    }
    if (top.type === 'sidx') tables.push(segmentIndex(top, replacements))
  }
  return tables
}

function chunkTable(stbl: Box | undefined, wide: ReadonlySet<Box>, into: Replacements): readonly OffsetTable[] {
  const box = childAt(stbl, 'stco') ?? childAt(stbl, 'co64')
  if (!box) return []
  const offsets = chunkOffsets(stbl)
  const bytes = makeChunkOffsets(offsets.length, box.type === 'co64' || wide.has(box))
  into.set(box, [bytes])
  return [
    {
      box,
      fill: ({ mapped }) =>
        writeChunkOffsets(
          bytes,
          offsets.map((offset) => mapped(offset) ?? offset),
        ),
    },
  ]
}

/** Offsets of `saio`: in `moov` they count from the file's first byte. */
function auxiliaryTable(box: Box, into: Replacements): OffsetTable {
  const bytes = copiedBox(box, into)
  return { box, fill: ({ mapped }) => moveAuxiliary(bytes, box, (offset) => mapped(offset) ?? offset) }
}

/** Moves each offset of a copy of `saio`; false if one does not fit. */
export function moveAuxiliary(bytes: Buffer, { headerBytes }: Box, move: (offset: number) => number): boolean {
  const width = bytes[headerBytes] === 1 ? 8 : 4
  const countAt = headerBytes + 4 + ((bytes.readUInt32BE(headerBytes) & 1) === 1 ? 8 : 0)
  const count = bytes.readUInt32BE(countAt)
  for (let row = 0, at = countAt + 4; row < count && at + width <= bytes.length; row++, at += width) {
    const moved = move(readUintBE(bytes, at, width))
    if (width === 4 && moved > 0xffff_ffff) return false
    writeUintBE(bytes, moved, at, width)
  }
  return true
}

/** The places of a dashcam's GPS blocks, with their lengths: they lie in the media data, between the packets. */
function dashcamTable(box: Box, into: Replacements): OffsetTable {
  const bytes = copiedBox(box, into)
  const fill = ({ mapped }: Sheet) => {
    for (let at = box.headerBytes + 8; at + 8 <= bytes.length; at += 8) {
      const moved = mapped(bytes.readUInt32BE(at))
      if (moved !== undefined && moved <= 0xffff_ffff) bytes.writeUInt32BE(moved, at)
    }
    return true
  }
  return { box, fill }
}

/** Fills in all offsets; returns the boxes that need wider fields. */
export function fillOffsets(tables: readonly OffsetTable[], sheet: Sheet): readonly Box[] {
  return tables.flatMap(({ box, fill }) => (fill(sheet) ? [] : [box]))
}
