import type { OldPackets } from '../../splice/old-packets.js'
import { bodyOf } from './box.js'
import { TRUN } from './fragments.js'
import { durationRuns, sampleSizes } from './sample-table.js'
import { chunksOf, type OldRun, type OldTrack } from './voice-runs.js'

/** The packets of a track one by one, with their decoding times. All places from 0 to `count` included have a tick. */
export interface TimedPackets extends Pick<OldPackets, 'count' | 'start' | 'length'> {
  readonly tickOf: (packet: number) => number
}

/** Reads the packets of a track out of its tables; undefined if they do not lie in order or lack sizes. */
export function readPackets({ track, runs }: OldTrack): TimedPackets | undefined {
  const rows: Row[] = []
  if (runs.some(({ fragment }) => fragment !== null)) {
    for (const run of runs) rows.push(...fragmentRows(run))
  } else {
    const sizes = sampleSizes(track.stbl)
    if (!sizes) return undefined
    const ticks = durationRuns(track.stbl).flatMap(({ count, ticks }) => Array.from({ length: count }, () => ticks))
    for (const { start, samples } of chunksOf(track)) {
      let at = start
      for (let sample = 0; sample < samples; sample++) {
        const bytes = sizes.kind === 'uniform' ? sizes.bytes : (sizes.bytes[rows.length] ?? 0)
        rows.push({ start: at, bytes, ticks: ticks[rows.length] ?? 0 })
        at += bytes
      }
    }
  }
  const firstTick = runs[0]?.startTick ?? 0
  const starts = Float64Array.from(rows, ({ start }) => start)
  const lengths = Uint32Array.from(rows, ({ bytes }) => bytes)
  const tickColumn = new Float64Array(rows.length + 1)
  tickColumn[0] = firstTick
  for (const [place, { ticks }] of rows.entries()) tickColumn[place + 1] = (tickColumn[place] as number) + ticks
  // Each run states its own time in fragments.
  const isContinuous = startsOf(runs).every(({ place, tick }) => tickColumn[place] === tick)
  if (rows.some(({ bytes }) => bytes === 0) || !isContinuous) return undefined
  return {
    count: rows.length,
    start: (packet) => starts[packet] as number,
    length: (packet) => lengths[packet] as number,
    tickOf: (packet) => tickColumn[packet] as number,
  }
}

interface Row {
  readonly start: number
  readonly bytes: number
  readonly ticks: number
}

/** The first packet of each run in a fragment, with its stated time. */
function startsOf(runs: readonly OldRun[]) {
  let place = 0
  return runs.flatMap(({ fragmentRun, startTick }) => {
    if (!fragmentRun) return []
    const start = { place, tick: startTick }
    place += fragmentRun.samples
    return [start]
  })
}

function fragmentRows({ fragment, fragmentRun }: OldRun): readonly Row[] {
  if (!fragment || !fragmentRun) return []
  const body = bodyOf(fragmentRun.box)
  const flags = body.readUInt32BE(0) & 0xff_ffff
  const has = (flag: number) => (flags & flag) !== 0
  let at = 8 + (has(TRUN.dataOffset) ? 4 : 0) + (has(TRUN.firstFlags) ? 4 : 0)
  const field = (flag: number, usual: number) => {
    if (!has(flag)) return usual
    at += 4
    return body.readUInt32BE(at - 4)
  }
  let start = fragmentRun.start
  return Array.from({ length: fragmentRun.samples }, () => {
    const ticks = field(TRUN.duration, fragment.header.duration)
    const bytes = field(TRUN.sizeBytes, fragment.header.sizeBytes)
    field(TRUN.sampleFlags, 0)
    field(TRUN.composition, 0)
    start += bytes
    return { start: start - bytes, bytes, ticks }
  })
}
