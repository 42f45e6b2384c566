import { MalformedFile } from '../../../probe/malformed-file.js'
import { type Box, bodyOf, childAt, childBoxes } from '../../../probe/movie/box.js'
import { decodeTimeOf, trackIdOf } from '../../../probe/movie/fragment-facts.js'
import { parseBoxes } from '../../../probe/movie/parse-boxes.js'
import type { SampleChunk } from '../../../probe/movie/sample-table.js'
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
  /** Runs with packets that earlier fragments list for its track. */
  readonly runsBefore: number
}

/** Defaults of `tfhd`, else of `trex`. */
export interface FragmentHeader {
  readonly box: Box
  readonly flags: number
  readonly baseDataOffset: number | null
  readonly duration: number
  readonly sizeBytes: number
}

/** A `trun`: contiguous samples in the file. */
export interface FragmentRun extends SampleChunk {
  readonly box: Box
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

/** A parsed `moof` and its track fragments. */
export interface Fragment {
  readonly moof: Box
  readonly tracks: readonly TrackFragment[]
}

/** The fragments of a file in file order. Each reading parses them again, because a film can have a hundred thousand. */
export class Fragments implements Iterable<Fragment> {
  readonly #moofs: readonly Box[]
  readonly #defaults: ReadonlyMap<number, Defaults>

  constructor(boxes: readonly Box[], movie: Movie) {
    this.#moofs = boxes.filter(({ type }) => type === 'moof')
    this.#defaults = new Map(childBoxes(childAt(movie.box, 'mvex'), 'trex').map((trex) => readDefaults(trex)))
  }

  /** @throws MalformedFile if a fragment breaks the standard */
  *[Symbol.iterator](): Generator<Fragment> {
    const passed = new Map<number, Passed>()
    for (const { start, bytes } of this.#moofs) {
      for (const moof of parseBoxes(bytes ?? Buffer.alloc(0), start, '')) {
        let impliedBase = moof.start
        const tracks = childBoxes(moof, 'traf').map((traf) => {
          const fragment = readFragment(traf, moof, { impliedBase, passed, defaults: this.#defaults })
          const { trackId, runs, runsBefore } = fragment
          const last = runs.at(-1)
          impliedBase = last ? last.start + last.bytes : fragment.baseAt
          passed.set(trackId, {
            endTick: last ? last.startTick + last.ticks : fragment.startTick,
            runs: runsBefore + runs.filter(({ bytes }) => bytes > 0).length,
          })
          return fragment
        })
        yield { moof, tracks }
      }
    }
  }

  *of(trackIds: Pick<ReadonlySet<number>, 'has'>): Generator<TrackFragment> {
    for (const { tracks } of this) for (const fragment of tracks) if (trackIds.has(fragment.trackId)) yield fragment
  }

  *boxesOf(trackIds: ReadonlySet<number | undefined>): Generator<Box> {
    for (const moof of this.#moofs) {
      for (const traf of childBoxes(moof, 'traf')) if (trackIds.has(trackIdOf(traf))) yield traf
    }
  }
}

/**
 * True if a run that is not the first states no place. A player reads its samples behind those before it. ffmpeg reads
 * them from the beginning of the fragment, and sees other packets.
 */
export function hasUnplacedRuns(fragments: Fragments): boolean {
  for (const { tracks } of fragments) {
    if (tracks.some(({ runs }) => runs.some(({ hasOffset, bytes }, place) => place > 0 && !hasOffset && bytes > 0))) {
      return true
    }
  }
  return false
}

/** A track up to a fragment. Without `tfdt`, the fragment begins at that tick. */
interface Passed {
  readonly endTick: number
  readonly runs: number
}

type Defaults = Pick<FragmentHeader, 'duration' | 'sizeBytes'>

function readDefaults(trex: Box): readonly [number, Defaults] {
  const body = bodyOf(trex)
  if (body.length < 24) throw new MalformedFile('trex is shorter than the standard requires')
  return [body.readUInt32BE(4), { duration: body.readUInt32BE(12), sizeBytes: body.readUInt32BE(16) }]
}

/** The facts of a fragment that stand outside it. */
interface Surroundings {
  readonly impliedBase: number
  /** By the id of the track. */
  readonly passed: ReadonlyMap<number, Passed>
  readonly defaults: ReadonlyMap<number, Defaults>
}

function readFragment(traf: Box, moof: Box, { impliedBase, passed, defaults }: Surroundings): TrackFragment {
  const tfhd = childAt(traf, 'tfhd')
  const body = bodyOf(tfhd)
  if (!tfhd || body.length < 8) throw new MalformedFile(`the fragment at byte ${moof.start} has no header for a track`)
  const flags = body.readUInt32BE(0) & 0xff_ffff
  const trackId = body.readUInt32BE(4)
  let at = 8
  const field = <T>(flag: number, bytes: number, read: (at: number) => T): T | null => {
    if ((flags & flag) === 0) return null
    at += bytes
    if (at > body.length) throw new MalformedFile('tfhd is shorter than its flags require')
    return read(at - bytes)
  }
  const own = defaults.get(trackId)
  const baseDataOffset = field(TFHD.baseDataOffset, 8, (from) => Number(body.readBigUInt64BE(from)))
  field(TFHD.description, 4, () => 0)
  const header: FragmentHeader = {
    ...{ box: tfhd, flags, baseDataOffset },
    duration: field(TFHD.duration, 4, (from) => body.readUInt32BE(from)) ?? own?.duration ?? 0,
    sizeBytes: field(TFHD.sizeBytes, 4, (from) => body.readUInt32BE(from)) ?? own?.sizeBytes ?? 0,
  }
  field(TFHD.sampleFlags, 4, () => 0)
  const baseAt = baseDataOffset ?? ((flags & TFHD.baseIsMoof) !== 0 ? moof.start : impliedBase)
  const { endTick, runs: runsBefore } = passed.get(trackId) ?? { endTick: 0, runs: 0 }
  const startTick = decodeTimeOf(traf) ?? endTick
  const runs = readRuns(traf, header, baseAt, startTick)
  return { box: traf, moof, trackId, header, baseAt, startTick, runs, runsBefore }
}

function readRuns(traf: Box, header: FragmentHeader, baseAt: number, startTick: number): readonly FragmentRun[] {
  let start = baseAt
  let tick = startTick
  return childBoxes(traf, 'trun').map((box) => {
    const body = bodyOf(box)
    const flags = body.length >= 8 ? body.readUInt32BE(0) & 0xff_ffff : 0
    const samples = body.length >= 8 ? body.readUInt32BE(4) : 0
    const hasOffset = (flags & TRUN.dataOffset) !== 0
    const rowsAt = 8 + (hasOffset ? 4 : 0) + ((flags & TRUN.firstFlags) !== 0 ? 4 : 0)
    const fields = [TRUN.duration, TRUN.sizeBytes, TRUN.sampleFlags, TRUN.composition].filter(
      (flag) => (flags & flag) !== 0,
    )
    if (body.length < 8 || rowsAt + samples * fields.length * 4 > body.length) {
      throw new MalformedFile(`the run of samples at byte ${box.start} is shorter than its header states`)
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
