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

/** Makes what replaces a box. Nothing removes it, and undefined keeps it. */
type NewBox = (box: Box) => readonly Buffer[] | undefined

/** Sizes and places of packets, some of which are new. Times, chunks and everything else stay. */
function replacePlaces({ old, donor, chunkPlaces }: NewIsoTrack, isWide: boolean, into: Replacements): Buffer {
  const offsets = makeChunkOffsets(chunkPlaces.length, isWide)
  const sizes = () => [makeSizes(donor.packets.sizes)]
  const places = () => [offsets]
  const tables = { stsz: sizes, stz2: sizes, stco: places, co64: places }
  fill(old.track.stbl, tables, (box) => (isKeyFact(box) ? [] : undefined), into)
  return offsets
}

function replaceSampleTables(track: NewIsoTrack, isWide: boolean, into: Replacements): Buffer {
  const { old, donor, deals, chunkPlaces, indexed } = track
  const packetsOfChunks = Array.from(chunkPlaces, (place) => deals.at(place).to - deals.at(place).from)
  const count = indexed.to - indexed.from
  const offsets = makeChunkOffsets(packetsOfChunks.length, isWide)
  const rolls = needsRollGroups(track) ? donor.rollGroups : []
  const sizes = () => [makeSizes(sizesOf(track))]
  const places = () => [offsets, ...rolls]
  const groups = (box: Box) => newGroup(box, isFragmented(old) ? count : null)
  const facts = (box: Box) => repeatedFact(box, count)
  const tables = {
    ...{ stsz: sizes, stz2: sizes, stco: places, co64: places, sgpd: groups, sbgp: groups, sdtp: facts, stdp: facts },
    stts: () => [makeDurations(durationsOf(track))],
    stsc: () => [makeChunkLayout(packetsOfChunks)],
  }
  fill(old.track.stbl, tables, (box) => (isPacketFact(box) ? [] : undefined), into)
  return offsets
}

function fill(
  stbl: Box | undefined,
  tables: Readonly<Record<string, NewBox>>,
  otherwise: NewBox,
  into: Replacements,
): void {
  for (const box of stbl?.children ?? []) {
    const made = (tables[box.type] ?? otherwise)(box)
    if (made) into.set(box, made)
  }
}

/** True if `stbl` gets the donor's groups: it had such groups, or its codec changes. Fragments carry their own. */
function needsRollGroups({ old, donor }: NewIsoTrack): boolean {
  const hadGroups = childBoxes(old.track.stbl, 'sbgp').some(isStaleGroup)
  return !isFragmented(old) && (hadGroups || old.track.entries[0]?.format !== donor.entry.format)
}

/** @param count packets in `moov` of a track in fragments, which keeps its groups; null for another track */
function newGroup(box: Box, count: number | null): readonly Buffer[] | undefined {
  if (isKeyFact(box)) return []
  if (!isStaleGroup(box)) return undefined
  // The groups of the donor count its packets in fragments, too.
  if (count === null) return []
  return box.type === 'sbgp' ? makeGroup(box, count) : undefined
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
