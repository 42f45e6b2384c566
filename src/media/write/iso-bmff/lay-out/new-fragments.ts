import { writeUintBE } from '../../../number-bytes.js'
import { type Box, bodyOf, childAt, makeFullBox } from '../../../probe/movie/box.js'
import type { PacketRange } from '../../deal-packets.js'
import { type FragmentHeader, TFHD, TRUN, type TrackFragment } from '../read/fragments.js'
import type { NewIsoTrack } from './new-iso-track.js'
import type { Replacements } from './sheet.js'
import { replaceSmoothTimes } from './smooth-times.js'
import { isPacketFact, isStaleGroup, makeGroup } from './track-facts.js'

/** Flags of a sync sample. */
const SYNC_SAMPLE = 0x0200_0000
/** Place of the offset in a box of {@link makeRun}. */
const RUN_OFFSET_AT = 16

/** A new `trun` whose offset is not filled in yet. */
interface NewRun {
  readonly box: Buffer
  /** Place among the old runs of its track. */
  readonly place: number
}

/** The new boxes of a `traf`. */
export interface NewFragment {
  readonly fragment: TrackFragment
  readonly header: Buffer
  readonly runs: readonly NewRun[]
}

/** Makes the boxes of one fragment of a replaced track. */
export function replaceFragment(track: NewIsoTrack, fragment: TrackFragment, into: Replacements): NewFragment {
  const first = track.old.runs.firstIn(fragment)
  const header = makeHeader(fragment.header)
  into.set(fragment.header.box, [header])
  const tfdt = childAt(fragment.box, 'tfdt')
  // An empty run stays: offsets of other tracks may count from its end.
  const old = fragment.runs.filter(({ bytes }) => bytes > 0)
  if (tfdt && old.length > 0) into.set(tfdt, [makeDecodeTime(tfdt, track.tickOf(track.deals.at(first).from))])
  const runs = old.map((run, row) => {
    const box = makeRun(track, track.deals.at(first + row))
    into.set(run.box, [box])
    return { box, place: first + row }
  })
  replaceSmoothTimes(track, fragment, into)
  const packets = runs.reduce((sum, { place }) => sum + sizeOf(track.deals.at(place)), 0)
  for (const child of fragment.box.children) {
    if (isPacketFact(child)) into.set(child, [])
    if (child.type === 'sbgp' && isStaleGroup(child)) into.set(child, makeGroup(child, packets))
  }
  return { fragment, header, runs }
}

/** Writes the offset of a run's packets, counted from the base of its `traf`. */
export function writeRunOffset({ box }: NewRun, offset: number): void {
  box.writeInt32BE(offset, RUN_OFFSET_AT)
}

/** The old header without default sizes, because runs state them. {@link writeBase} fills in its base. */
function makeHeader(header: FragmentHeader): Buffer {
  const { box, flags } = header
  const made = (flags & (TFHD.baseDataOffset | TFHD.baseIsMoof)) | TFHD.sampleFlags
  const fields = Buffer.alloc(4 + (header.baseDataOffset === null ? 0 : 8) + 4)
  fields.writeUInt32BE(bodyOf(box).readUInt32BE(4), 0)
  fields.writeUInt32BE(SYNC_SAMPLE, fields.length - 4)
  return makeFullBox('tfhd', 0, made, fields)
}

/** Fills in the base of offsets in a header; does nothing if the header has none. */
export function writeBase(header: Buffer, base: number): void {
  const flags = header.readUInt32BE(8) & 0xff_ffff
  if ((flags & TFHD.baseDataOffset) !== 0) header.writeBigUInt64BE(BigInt(base), 16)
}

function makeDecodeTime(tfdt: Box, tick: number): Buffer {
  const isLong = bodyOf(tfdt)[0] === 1 || tick > 0xffff_ffff
  const fields = Buffer.alloc(isLong ? 8 : 4)
  writeUintBE(fields, tick, 0, fields.length)
  return makeFullBox('tfdt', isLong ? 1 : 0, 0, fields)
}

function makeRun({ donor, tickOf }: NewIsoTrack, deal: PacketRange): Buffer {
  const fields = Buffer.alloc(8 + 8 * sizeOf(deal))
  fields.writeUInt32BE(sizeOf(deal), 0)
  for (let packet = deal.from, at = 8; packet < deal.to; packet++, at += 8) {
    fields.writeUInt32BE(tickOf(packet + 1) - tickOf(packet), at)
    fields.writeUInt32BE(donor.packets.offsetOf(packet + 1) - donor.packets.offsetOf(packet), at + 4)
  }
  return makeFullBox('trun', 0, TRUN.dataOffset | TRUN.duration | TRUN.sizeBytes, fields)
}

function sizeOf({ from, to }: PacketRange): number {
  return to - from
}
