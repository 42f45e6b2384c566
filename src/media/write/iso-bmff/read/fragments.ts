import { type Box, bodyOf, childAt, childrenOf } from '../../../probe/movie/box.js'
import { MalformedBox } from '../../../probe/movie/parse-boxes.js'
import type { Movie } from './movie.js'

/** A `traf`: the samples of one track in one fragment. */
export interface TrackFragment {
  readonly box: Box
  readonly moof: Box
  readonly trackId: number
  readonly header: FragmentHeader
  /** Place in the file from which offsets of this `traf` count. */
  readonly baseAt: number
  /** Decoding time of its first sample, in ticks of the track. */
  readonly startTick: number
  readonly runs: readonly FragmentRun[]
}

/** Defaults of `tfhd`, else of `trex`. */
export interface FragmentHeader {
  readonly box: Box
  readonly flags: number
  readonly baseDataOffset: number | null
  readonly duration: number
  readonly sizeBytes: number
  readonly sampleFlags: number
}

/** A `trun`: contiguous samples in the file. */
export interface FragmentRun {
  readonly box: Box
  readonly start: number
  readonly bytes: number
  readonly samples: number
  readonly startTick: number
  readonly ticks: number
  /** True if the run states its offset; false if it follows the previous run. */
  readonly hasOffset: boolean
}

export const TFHD = {
  baseDataOffset: 0x01,
  description: 0x02,
  duration: 0x08,
  sizeBytes: 0x10,
  sampleFlags: 0x20,
  baseIsMoof: 0x02_0000,
} as const

export const TRUN = {
  dataOffset: 0x001,
  firstFlags: 0x004,
  duration: 0x100,
  sizeBytes: 0x200,
  sampleFlags: 0x400,
  composition: 0x800,
} as const

/** Reads every track fragment of a file, in file order. */
export function readFragments(boxes: readonly Box[], movie: Movie): readonly TrackFragment[] {
  const defaults = new Map(childrenOf(childAt(movie.box, 'mvex'), 'trex').map((trex) => readDefaults(trex)))
  // Without `tfdt`, a fragment continues at the end of the previous one of its track.
  const ends = new Map<number, number>()
  return boxes
    .filter(({ type }) => type === 'moof')
    .flatMap((moof) => {
      let impliedBase = moof.start
      return childrenOf(moof, 'traf').map((traf) => {
        const fragment = readFragment(traf, moof, impliedBase, defaults, ends)
        const last = fragment.runs.at(-1)
        impliedBase = last ? last.start + last.bytes : fragment.baseAt
        ends.set(fragment.trackId, last ? last.startTick + last.ticks : fragment.startTick)
        return fragment
      })
    })
}

interface Defaults {
  readonly duration: number
  readonly sizeBytes: number
  readonly sampleFlags: number
}

function readDefaults(trex: Box): readonly [number, Defaults] {
  const body = bodyOf(trex)
  if (body.length < 24) throw new MalformedBox('trex is shorter than the standard requires')
  const [duration, sizeBytes, sampleFlags] = [12, 16, 20].map((at) => body.readUInt32BE(at)) as [number, number, number]
  return [body.readUInt32BE(4), { duration, sizeBytes, sampleFlags }]
}

function readFragment(
  traf: Box,
  moof: Box,
  impliedBase: number,
  defaults: ReadonlyMap<number, Defaults>,
  ends: ReadonlyMap<number, number>,
): TrackFragment {
  const tfhd = childAt(traf, 'tfhd')
  const body = bodyOf(tfhd)
  if (!tfhd || body.length < 8) throw new MalformedBox(`the fragment at byte ${moof.start} has no header for a track`)
  const flags = body.readUInt32BE(0) & 0xff_ffff
  const trackId = body.readUInt32BE(4)
  let at = 8
  const field = <T>(flag: number, bytes: number, read: (at: number) => T): T | null => {
    if ((flags & flag) === 0) return null
    at += bytes
    if (at > body.length) throw new MalformedBox('tfhd is shorter than its flags require')
    return read(at - bytes)
  }
  const own = defaults.get(trackId)
  const baseDataOffset = field(TFHD.baseDataOffset, 8, (from) => Number(body.readBigUInt64BE(from)))
  field(TFHD.description, 4, () => 0)
  const header: FragmentHeader = {
    ...{ box: tfhd, flags, baseDataOffset },
    duration: field(TFHD.duration, 4, (from) => body.readUInt32BE(from)) ?? own?.duration ?? 0,
    sizeBytes: field(TFHD.sizeBytes, 4, (from) => body.readUInt32BE(from)) ?? own?.sizeBytes ?? 0,
    sampleFlags: field(TFHD.sampleFlags, 4, (from) => body.readUInt32BE(from)) ?? own?.sampleFlags ?? 0,
  }
  const baseAt = baseDataOffset ?? ((flags & TFHD.baseIsMoof) !== 0 ? moof.start : impliedBase)
  const startTick = decodeTime(childAt(traf, 'tfdt')) ?? ends.get(trackId) ?? 0
  return { box: traf, moof, trackId, header, baseAt, startTick, runs: readRuns(traf, header, baseAt, startTick) }
}

function decodeTime(tfdt: Box | undefined): number | null {
  const body = bodyOf(tfdt)
  if (body[0] === 1 && body.length >= 12) return Number(body.readBigUInt64BE(4))
  return body.length >= 8 ? body.readUInt32BE(4) : null
}

function readRuns(traf: Box, header: FragmentHeader, baseAt: number, startTick: number): readonly FragmentRun[] {
  let start = baseAt
  let tick = startTick
  return childrenOf(traf, 'trun').map((box) => {
    const body = bodyOf(box)
    const flags = body.length >= 8 ? body.readUInt32BE(0) & 0xff_ffff : 0
    const samples = body.length >= 8 ? body.readUInt32BE(4) : 0
    const hasOffset = (flags & TRUN.dataOffset) !== 0
    const rowsAt = 8 + (hasOffset ? 4 : 0) + ((flags & TRUN.firstFlags) !== 0 ? 4 : 0)
    const fields = [TRUN.duration, TRUN.sizeBytes, TRUN.sampleFlags, TRUN.composition].filter(
      (flag) => (flags & flag) !== 0,
    )
    if (body.length < 8 || rowsAt + samples * fields.length * 4 > body.length) {
      throw new MalformedBox(`the run of samples at byte ${box.start} is shorter than its header states`)
    }
    if (hasOffset) start = baseAt + body.readInt32BE(8)
    const sum = (flag: number, usual: number) => {
      const place = fields.indexOf(flag as (typeof fields)[number])
      if (place < 0) return usual * samples
      let total = 0
      for (let row = 0; row < samples; row++) total += body.readUInt32BE(rowsAt + 4 * (row * fields.length + place))
      return total
    }
    const run = {
      ...{ box, start, samples, startTick: tick, hasOffset },
      bytes: sum(TRUN.sizeBytes, header.sizeBytes),
      ticks: sum(TRUN.duration, header.duration),
    }
    start += run.bytes
    tick += run.ticks
    return run
  })
}
