import { MalformedFile } from '../malformed-file.js'
import { type Box, bodyOf, childAt } from './box.js'

/** Neighbouring samples of equal duration. */
export interface DurationRun {
  readonly count: number
  readonly ticks: number
}

/** A run of contiguous samples in the file. */
export interface SampleChunk {
  readonly start: number
  readonly bytes: number
  readonly samples: number
  /** Decoding time of its first sample, in ticks of the track. */
  readonly startTick: number
  readonly ticks: number
}

/** Sizes of samples in bytes: one for all, or one per sample. */
export type SampleSizes =
  | { readonly kind: 'uniform'; readonly bytes: number; readonly count: number }
  | { readonly kind: 'each'; readonly bytes: Uint32Array }

/** Bytes per number of samples if the size table does not state them, as in old QuickTime audio. */
export interface FixedFrames {
  readonly samples: number
  readonly bytes: number
}

/** Reads `stts`. */
export function durationRuns(stbl: Box | undefined): readonly DurationRun[] {
  const body = bodyOf(childAt(stbl, 'stts'))
  const run = (row: number) => ({ count: body.readUInt32BE(8 + 8 * row), ticks: body.readUInt32BE(12 + 8 * row) })
  return Array.from({ length: rowsOf(body, 8) }, (_, row) => run(row))
}

/** Neighbours of equal duration in one run. */
export function groupDurations(durations: Iterable<number>): readonly DurationRun[] {
  const runs: { count: number; ticks: number }[] = []
  for (const ticks of durations) {
    const last = runs.at(-1)
    if (last?.ticks === ticks) last.count += 1
    else runs.push({ count: 1, ticks })
  }
  return runs
}

/** The samples in some chunks of a track, one by one. Samples without a size have 0. */
export function* samplesInChunks(stbl: Box | undefined, chunks: Iterable<SampleChunk>) {
  const sizes = sampleSizes(stbl)
  const clock = new SampleClock(durationRuns(stbl))
  let sample = 0
  for (const { start, samples } of chunks) {
    let at = start
    for (const end = sample + samples; sample < end; sample++) {
      const bytes = (sizes?.kind === 'each' ? sizes.bytes[sample] : sizes?.bytes) ?? 0
      yield { start: at, bytes, ticks: clock.advance(1) }
      at += bytes
    }
  }
}

/** Reads `stsz` or `stz2`; null if the track has neither. */
export function sampleSizes(stbl: Box | undefined): SampleSizes | null {
  const body = bodyOf(childAt(stbl, 'stsz'))
  if (body.length >= 12) {
    const [bytes, count] = [body.readUInt32BE(4), body.readUInt32BE(8)]
    if (bytes > 0) return { kind: 'uniform', bytes, count }
    if (12 + 4 * count > body.length)
      throw new MalformedFile('the table of sample sizes is shorter than its header states')
    return { kind: 'each', bytes: Uint32Array.from({ length: count }, (_, row) => body.readUInt32BE(12 + 4 * row)) }
  }
  const compact = bodyOf(childAt(stbl, 'stz2'))
  return compact.length >= 12 ? compactSizes(compact) : null
}

function compactSizes(body: Buffer): SampleSizes {
  const [bits, count] = [body.readUInt8(7), body.readUInt32BE(8)]
  if (![4, 8, 16].includes(bits) || 12 + (count * bits) / 8 > body.length) {
    throw new MalformedFile('the compact table of sample sizes does not follow the standard')
  }
  const read = (row: number): number => {
    if (bits === 16) return body.readUInt16BE(12 + 2 * row)
    if (bits === 8) return body.readUInt8(12 + row)
    const pair = body.readUInt8(12 + (row >> 1))
    return row % 2 === 0 ? pair >> 4 : pair & 15
  }
  return { kind: 'each', bytes: Uint32Array.from({ length: count }, (_, row) => read(row)) }
}

/** Reads `stco` or `co64`. */
export function chunkOffsets(stbl: Box | undefined): Float64Array {
  const short = bodyOf(childAt(stbl, 'stco'))
  const long = bodyOf(childAt(stbl, 'co64'))
  const shorts = rowsOf(short, 4)
  const offsets = new Float64Array(shorts + rowsOf(long, 8))
  for (let row = 0; row < offsets.length; row++)
    offsets[row] = row < shorts ? short.readUInt32BE(8 + 4 * row) : Number(long.readBigUInt64BE(8 + 8 * (row - shorts)))
  return offsets
}

/**
 * Reads the chunks of a track from all its tables, in file order of the tables.
 *
 * @param frames of sound whose size table counts samples and not bytes
 * @throws MalformedFile if the tables contradict each other
 */
export function* trackChunks(stbl: Box | undefined, frames: FixedFrames | null): Generator<SampleChunk> {
  const offsets = chunkOffsets(stbl)
  if (offsets.length === 0) return
  const sizes = sampleSizes(stbl)
  const layout = bodyOf(childAt(stbl, 'stsc'))
  const steps = rowsOf(layout, 12)
  if (!sizes || steps === 0) throw new MalformedFile('a track has chunks and no table of its samples')
  const clock = new SampleClock(durationRuns(stbl))
  let step = 0
  let sample = 0
  for (let chunk = 0; chunk < offsets.length; chunk++) {
    while (step + 1 < steps && layout.readUInt32BE(8 + 12 * (step + 1)) <= chunk + 1) step += 1
    const samples = layout.readUInt32BE(8 + 12 * step + 4)
    const startTick = clock.tick
    const ticks = clock.advance(samples)
    const start = offsets[chunk] as number
    yield { start, bytes: bytesOf(sizes, frames, sample, samples), samples, startTick, ticks }
    sample += samples
  }
}

function bytesOf(sizes: SampleSizes, frames: FixedFrames | null, first: number, count: number): number {
  if (frames) return Math.ceil(count / frames.samples) * frames.bytes
  if (sizes.kind === 'uniform') return sizes.bytes * count
  if (first + count > sizes.bytes.length) throw new MalformedFile('a track has more samples in chunks than sizes')
  let sum = 0
  for (let sample = first; sample < first + count; sample++) sum += sizes.bytes[sample] as number
  return sum
}

/** Walks through the durations of samples. */
class SampleClock {
  tick = 0
  readonly #runs: readonly DurationRun[]
  #run = 0
  #used = 0

  constructor(runs: readonly DurationRun[]) {
    this.#runs = runs
  }

  /** Skips samples and returns their duration. Those behind the last row last as long as the ones before, as in ffmpeg. */
  advance(samples: number): number {
    const from = this.tick
    for (let left = samples; left > 0; ) {
      const run = this.#runs[this.#run]
      if (!run) {
        this.tick += left * (this.#runs.at(-1)?.ticks ?? 0)
        break
      }
      const taken = Math.min(left, run.count - this.#used)
      this.tick += taken * run.ticks
      this.#used += taken
      left -= taken
      if (this.#used === run.count) {
        this.#run += 1
        this.#used = 0
      }
    }
    return this.tick - from
  }
}

/** Rows of a table, which its version, its flags and their count precede. */
function rowsOf(body: Buffer, rowBytes: number): number {
  if (body.length < 8) return 0
  const count = body.readUInt32BE(4)
  if (8 + count * rowBytes > body.length)
    throw new MalformedFile('a table of samples is shorter than its header states')
  return count
}
