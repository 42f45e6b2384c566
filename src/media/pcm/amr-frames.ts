import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../core/read-at.js'
import { type Box, bodyOf } from '../probe/movie/box.js'
import { makeChunkLayout, makeDurations, makeSizes } from '../probe/movie/make-tables.js'
import { groupDurations, samplesInChunks, trackChunks } from '../probe/movie/sample-table.js'

/** Bytes of a frame behind its first one, by the mode in that one (3GPP TS 26.101 and TS 26.201). */
const AMR_MODES: Readonly<Record<string, readonly number[]>> = {
  samr: [12, 13, 15, 17, 19, 20, 26, 31, 5],
  sawb: [17, 23, 32, 36, 40, 46, 50, 58, 60, 5],
}

/** Tables of a track, and the places of its chunks in the file. */
export interface FramedTables {
  readonly tables: readonly Buffer[]
  readonly offsets: readonly number[]
}

/** Tables of AMR in which each frame is a sample, and each former sample a chunk; undefined for another codec. */
export async function framedTables(file: FileHandle, stbl: Box, stsd: Box): Promise<FramedTables | undefined> {
  const modes = AMR_MODES[bodyOf(stsd).toString('latin1', 12, 16)]
  if (!modes) return undefined
  const offsets: number[] = []
  const counts: number[] = []
  const sizes: number[] = []
  const ticks: number[] = []
  for (const sample of samplesInChunks(stbl, trackChunks(stbl, null))) {
    const frames = frameSizes(await readAt(file, sample.start, sample.bytes), modes)
    // Tables can name four thousand million samples behind the end of the file.
    if (sample.bytes > 0 && frames.length === 0) return undefined
    offsets.push(sample.start)
    counts.push(frames.length)
    for (const [place, size] of frames.entries()) {
      sizes.push(size)
      ticks.push(shareOf(sample.ticks, frames.length, place))
    }
  }
  const tables = [
    ...[stsd.bytes ?? Buffer.alloc(0), makeDurations(groupDurations(ticks)), makeChunkLayout(counts)],
    makeSizes({ kind: 'each', bytes: Uint32Array.from(sizes) }),
  ]
  return { tables, offsets }
}

function frameSizes(sample: Buffer, modes: readonly number[]): readonly number[] {
  const sizes: number[] = []
  for (let at = 0; at < sample.length; at += sizes.at(-1) as number) {
    const mode = ((sample[at] as number) >> 3) & 15
    sizes.push(Math.min(1 + (modes[mode] ?? 0), sample.length - at))
  }
  return sizes
}

/** Ticks of one of several frames that share a time. */
function shareOf(ticks: number, count: number, frame: number): number {
  return Math.floor((ticks * (frame + 1)) / count) - Math.floor((ticks * frame) / count)
}
