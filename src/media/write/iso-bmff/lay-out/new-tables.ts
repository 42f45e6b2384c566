import { uint32BE } from '../../../number-bytes.js'
import { type Box, bodyOf, childAt, childBoxes, makeFullBox } from '../../../probe/movie/box.js'
import type { Edit } from '../../../probe/movie/edits.js'
import {
  makeChunkLayout,
  makeChunkOffsets,
  makeDurations,
  makeEditBox,
  makeEdits,
  makeSizes,
} from '../../../probe/movie/make-tables.js'
import { type DurationRun, groupDurations, type SampleSizes } from '../../../probe/movie/sample-table.js'
import { type IsoFile, newDuration } from '../read/iso-file.js'
import { type Movie, withClock, withDuration } from '../read/movie.js'
import { newSampleEntry } from '../read/sample-entry.js'
import { durationOf, isFragmented } from '../read/voice-runs.js'
import type { NewIsoTrack } from './new-iso-track.js'
import type { Replacements } from './sheet.js'
import { isKeyFact, isPacketFact, isStaleGroup, makeGroup } from './track-facts.js'

/**
 * Makes the boxes of a track that describe its packets.
 *
 * @param isWide true if its chunk offsets need 64 bits
 * @returns the box of the chunk offsets, not filled in yet; null if the track has none in `moov`
 */
export function replaceTables(track: NewIsoTrack, movie: Movie, isWide: boolean, into: Replacements): Buffer | null {
  const { old, edits, donor } = track
  const { box } = old.track
  if (donor.isSplice) return isFragmented(old) ? null : replacePlaces(track, isWide, into)
  const inFragments = isFragmented(old)
  const stsd = childAt(old.track.stbl, 'stsd')
  const entry = old.track.entries[0]
  if (stsd && entry) {
    const made = newSampleEntry(entry, track.donor.entry)
    into.set(stsd, [makeFullBox('stsd', 0, 0, Buffer.concat([uint32BE(1), made]))])
  }
  const tkhd = childAt(box, 'tkhd')
  const edts = childAt(box, 'edts')
  if (edts && edits) replaceEdits(edts, edits, into)
  const inserted = !edts && edits ? [makeEditBox(edits)] : []
  if (tkhd && !inFragments) into.set(tkhd, [...trackHeader(track, tkhd, movie), ...inserted])
  else if (tkhd?.bytes && inserted.length > 0) into.set(tkhd, [tkhd.bytes, ...inserted])
  if (old.runs.inIndex === 0) return null
  const mdhd = childAt(box, 'mdia', 'mdhd')
  if (mdhd && !inFragments) into.set(mdhd, [withClock(mdhd, track.tickOf(track.donor.packets.count), track.timeScale)])
  return replaceSampleTables(track, isWide, into)
}

/** Keeps other boxes beside the edit list. */
function replaceEdits(edts: Box, edits: readonly Edit[], into: Replacements): void {
  const old = childAt(edts, 'elst')
  const [first] = edts.children
  if (old) into.set(old, [makeEdits(edits)])
  else if (first?.bytes) into.set(first, [makeEdits(edits), first.bytes])
  else into.set(edts, [makeEditBox(edits)])
}

/** Sizes and places of packets, some of which are new. Times, chunks and everything else stay. */
function replacePlaces({ old, donor, chunks }: NewIsoTrack, isWide: boolean, into: Replacements): Buffer {
  const offsets = makeChunkOffsets(chunks.length, isWide)
  for (const child of old.track.stbl?.children ?? []) {
    if (child.type === 'stsz' || child.type === 'stz2') into.set(child, [makeSizes(donor.packets.sizes)])
    if (child.type === 'stco' || child.type === 'co64') into.set(child, [offsets])
    if (isKeyFact(child)) into.set(child, [])
  }
  return offsets
}

function replaceSampleTables(track: NewIsoTrack, isWide: boolean, into: Replacements): Buffer {
  const { old, donor, indexed } = track
  const packetsOfChunks = track.chunks.map(({ from, to }) => to - from)
  const count = indexed.to - indexed.from
  const inFragments = isFragmented(old)
  const offsets = makeChunkOffsets(packetsOfChunks.length, isWide)
  const hadGroups = childBoxes(old.track.stbl, 'sbgp').some(isStaleGroup)
  const isNewCodec = old.track.entries[0]?.format !== donor.entry.format
  for (const child of old.track.stbl?.children ?? []) {
    switch (child.type) {
      case 'stts':
        into.set(child, [makeDurations(durationsOf(track))])
        break
      case 'stsz':
      case 'stz2':
        into.set(child, [makeSizes(sizesOf(track))])
        break
      case 'stsc':
        into.set(child, [makeChunkLayout(packetsOfChunks)])
        break
      case 'stco':
      case 'co64':
        into.set(child, [offsets, ...(!inFragments && (hadGroups || isNewCodec) ? donor.rollGroups : [])])
        break
      case 'sgpd':
      case 'sbgp':
        // The groups of the donor count its packets in fragments, too.
        if (isKeyFact(child) || (isStaleGroup(child) && !inFragments)) into.set(child, [])
        else if (isStaleGroup(child) && child.type === 'sbgp') into.set(child, makeGroup(child, count))
        break
      case 'sdtp':
      case 'stdp':
        into.set(child, repeatedFact(child, count))
        break
      default:
        if (isPacketFact(child)) into.set(child, [])
    }
  }
  return offsets
}

/** Neighbouring packets of equal duration. */
function durationsOf(track: NewIsoTrack): readonly DurationRun[] {
  const { tickOf, indexed } = track
  const count = indexed.to - indexed.from
  if (track.donor.packets.sizes.kind === 'uniform' && count > 0) {
    const ticks = (tickOf(indexed.to) - tickOf(indexed.from)) / count
    if (Number.isInteger(ticks)) return [{ count, ticks }]
  }
  return groupDurations(ticksOfPackets(track))
}

function* ticksOfPackets({ indexed, tickOf }: NewIsoTrack): Generator<number> {
  for (let packet = indexed.from; packet < indexed.to; packet++) yield tickOf(packet + 1) - tickOf(packet)
}

/** Sizes of the packets that the index lists. */
function sizesOf({ donor, indexed: { from, to } }: NewIsoTrack): SampleSizes {
  const { sizes } = donor.packets
  if (sizes.kind === 'uniform') return { ...sizes, count: to - from }
  return { kind: 'each', bytes: sizes.bytes.subarray(from, to) }
}

function trackHeader({ old }: NewIsoTrack, tkhd: Box, movie: Movie): readonly Buffer[] {
  const ticks = durationOf(old, movie.timeScale)
  return ticks === old.track.durationTicks && tkhd.bytes ? [tkhd.bytes] : [withDuration(tkhd, ticks)]
}

/** Rewrites the movie's duration if it came from a track with a wrong header. */
export function replaceMovieHeader(file: IsoFile, voices: readonly number[], into: Replacements): void {
  const mvhd = childAt(file.movie.box, 'mvhd')
  const ticks = newDuration(file, voices)
  if (mvhd && ticks !== null) into.set(mvhd, [withDuration(mvhd, ticks)])
}

/** Keeps a table with one fact per packet if all facts are equal. */
function repeatedFact(box: Box, count: number): readonly Buffer[] {
  const rowBytes = box.type === 'stdp' ? 2 : 1
  const rows = bodyOf(box).subarray(4)
  const first = rows.subarray(0, rowBytes)
  for (let at = 0; at + rowBytes <= rows.length; at += rowBytes) {
    if (!rows.subarray(at, at + rowBytes).equals(first)) return []
  }
  return first.length === rowBytes ? [makeFullBox(box.type, 0, 0, Buffer.alloc(count * rowBytes, first))] : []
}
