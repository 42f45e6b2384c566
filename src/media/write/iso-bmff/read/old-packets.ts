import { bodyOf } from '../../../probe/movie/box.js'
import { durationRuns, type SampleSizes, sampleSizes } from '../../../probe/movie/sample-table.js'
import type { OldPackets } from '../../splice/old-packets.js'
import { TRUN } from './fragments.js'
import type { Track } from './movie.js'
import type { RunInFragment } from './old-runs.js'
import { chunksOf, isFragmented, type OldTrack } from './voice-runs.js'

/** The packets of a track one by one, with their decoding times. All places from 0 to `count` included have a tick. */
export interface TimedPackets extends Pick<OldPackets, 'count' | 'start' | 'length'> {
  readonly tickOf: (packet: number) => number
}

/** Reads the packets of a track out of its tables; undefined if they do not lie in order or lack sizes. */
export function readPackets(old: OldTrack): TimedPackets | undefined {
  const { track, runs } = old
  const inFragments = isFragmented(old)
  const sizes = inFragments ? null : sampleSizes(track.stbl)
  if (!inFragments && !sizes) return undefined
  const count = inFragments
    ? runs.inFragments.reduce((sum, { run }) => sum + run.samples, 0)
    : sizes?.kind === 'uniform'
      ? sizes.count
      : (sizes?.bytes.length ?? 0)
  const columns = new Columns(count, runs.firstTick)
  if (sizes) readTables(track, sizes, columns)
  else if (!runs.inFragments.every((run) => readRun(run, columns))) return undefined
  return columns.packets()
}

/** The packets of a track. Columns, because a film has hundreds of thousands. */
class Columns {
  readonly #starts: Float64Array
  readonly #lengths: Uint32Array
  readonly #ticks: Float64Array
  count = 0

  constructor(count: number, firstTick: number) {
    this.#starts = new Float64Array(count)
    this.#lengths = new Uint32Array(count)
    this.#ticks = new Float64Array(count + 1)
    this.#ticks[0] = firstTick
  }

  /** Decoding time of the next packet. */
  get tick(): number {
    return this.#ticks[this.count] as number
  }

  push(start: number, bytes: number, ticks: number): void {
    this.#starts[this.count] = start
    this.#lengths[this.count] = bytes
    this.#ticks[this.count + 1] = this.tick + ticks
    this.count += 1
  }

  packets(): TimedPackets | undefined {
    const [starts, lengths, ticks] = [this.#starts, this.#lengths, this.#ticks]
    if (this.count < starts.length || lengths.includes(0)) return undefined
    return {
      count: this.count,
      start: (packet) => starts[packet] as number,
      length: (packet) => lengths[packet] as number,
      tickOf: (packet) => ticks[packet] as number,
    }
  }
}

function readTables(track: Track, sizes: SampleSizes, into: Columns): void {
  const durations = durationsOf(track)
  for (const { start, samples } of chunksOf(track)) {
    let at = start
    for (let sample = 0; sample < samples; sample++) {
      const bytes = sizes.kind === 'uniform' ? sizes.bytes : (sizes.bytes[into.count] ?? 0)
      into.push(at, bytes, durations.next().value ?? 0)
      at += bytes
    }
  }
}

/** Duration of each packet. */
function* durationsOf({ stbl }: Track): Generator<number, undefined> {
  for (const { count, ticks } of durationRuns(stbl)) for (let left = count; left > 0; left--) yield ticks
}

/** Reads the rows of a `trun`; false if it does not begin when the one before ends. */
function readRun({ fragment, run }: RunInFragment, into: Columns): boolean {
  if (run.startTick !== into.tick) return false
  const body = bodyOf(run.box)
  const flags = body.readUInt32BE(0) & 0xff_ffff
  const has = (flag: number) => (flags & flag) !== 0
  let at = 8 + (has(TRUN.dataOffset) ? 4 : 0) + (has(TRUN.firstFlags) ? 4 : 0)
  const field = (flag: number, usual: number) => {
    if (!has(flag)) return usual
    at += 4
    return body.readUInt32BE(at - 4)
  }
  let start = run.start
  for (let sample = 0; sample < run.samples; sample++) {
    const ticks = field(TRUN.duration, fragment.header.duration)
    const bytes = field(TRUN.sizeBytes, fragment.header.sizeBytes)
    field(TRUN.sampleFlags, 0)
    field(TRUN.composition, 0)
    into.push(start, bytes, ticks)
    start += bytes
  }
  return true
}
