import { bodyOf } from '../../../probe/movie/box.js'
import { sampleSizes, samplesInChunks } from '../../../probe/movie/sample-table.js'
import { Column } from '../../column.js'
import type { OldPackets } from '../../splice/old-packets.js'
import { type FragmentRun, type Fragments, TRUN, type TrackFragment } from './fragments.js'
import { isFragmented, type OldTrack, sampleChunksOf } from './voice-runs.js'

/** The packets of a track one by one, with their decoding times. All places from 0 to `count` included have a tick. */
interface TimedPackets extends Pick<OldPackets, 'count' | 'start' | 'length'> {
  readonly tickOf: (packet: number) => number
}

/** Reads the packets of a track out of its tables; undefined if they do not lie in order or lack sizes. */
export function readPackets(old: OldTrack, fragments: Fragments): TimedPackets | undefined {
  const { track, runs } = old
  const inFragments = isFragmented(old)
  const sizes = inFragments ? null : sampleSizes(track.stbl)
  if (!inFragments && !sizes) return undefined
  const columns = new Columns(runs.firstTick)
  if (sizes) {
    for (const { start, bytes, ticks } of samplesInChunks(track.stbl, sampleChunksOf(track)))
      columns.push(start, bytes, ticks)
  } else {
    for (const fragment of fragments.of(new Set([track.id]))) {
      for (const run of fragment.runs) if (run.bytes > 0 && !readRun(fragment, run, columns)) return undefined
    }
  }
  const count = inFragments ? columns.count : sizes?.kind === 'uniform' ? sizes.count : (sizes?.bytes.length ?? 0)
  return columns.packets(count)
}

/** The packets of a track. Columns, because a film has hundreds of thousands. */
class Columns {
  readonly #starts = Column.floats()
  readonly #lengths = Column.integers()
  readonly #ticks = Column.floats()

  constructor(firstTick: number) {
    this.#ticks.push(firstTick)
  }

  get count(): number {
    return this.#starts.count
  }

  /** Decoding time of the next packet. */
  get tick(): number {
    return this.#ticks.get(this.count)
  }

  push(start: number, bytes: number, ticks: number): void {
    const end = this.tick + ticks
    this.#starts.push(start)
    this.#lengths.push(bytes)
    this.#ticks.push(end)
  }

  /** Undefined if there are fewer than the stated count. */
  packets(statedCount: number): TimedPackets | undefined {
    const lengths = this.#lengths.values()
    if (this.count < statedCount || lengths.includes(0)) return undefined
    return {
      count: this.count,
      start: (packet) => this.#starts.get(packet),
      length: (packet) => this.#lengths.get(packet),
      tickOf: (packet) => this.#ticks.get(packet),
    }
  }
}

/** Reads the rows of a `trun`; false if it does not begin when the one before ends. */
function readRun({ header }: TrackFragment, run: FragmentRun, into: Columns): boolean {
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
    const ticks = field(TRUN.duration, header.duration)
    const bytes = field(TRUN.sizeBytes, header.sizeBytes)
    field(TRUN.sampleFlags, 0)
    field(TRUN.composition, 0)
    into.push(start, bytes, ticks)
    start += bytes
  }
  return true
}
