import { energyOf } from './correlate.js'
import { frameBytes, type PcmStream } from './pcm.js'
import { PcmReader } from './pcm-reader.js'
import { readSamples } from './pcm-samples.js'

/** How loud a track is over time: a mean square each 10 ms. */
export interface LoudnessOverTime {
  readonly hopSamples: number
  readonly powers: readonly number[]
}

const HOP_SEC = 0.01
/** A pause is judged over this long: a single quiet hop lies inside a word as well. */
const PAUSE_SEC = 0.2

/** Reads a stream once; keeps a number for each 10 ms. */
export async function findSilences(stream: PcmStream): Promise<LoudnessOverTime> {
  const hopSamples = Math.round(HOP_SEC * stream.format.sampleRate)
  const reader = new PcmReader(stream)
  const powers: number[] = []
  for (;;) {
    const bytes = await reader.read(hopSamples)
    if (bytes.length === 0) return { hopSamples, powers }
    powers.push(energyOf(readSamples(bytes, stream.format.sample)) / (bytes.length / frameBytes(stream.format)))
  }
}

export interface ChunkLengths {
  /** No chunk is longer. */
  readonly mostSamples: number
  /** How far before that a quieter place is looked for. */
  readonly searchSamples: number
}

/**
 * Where to cut a track into chunks: at the middle of the quietest pause in the last part of each chunk. Positions in
 * samples, in order, inside the track; none where it is short enough whole. Pure.
 */
export function planChunkCuts({ hopSamples, powers }: LoudnessOverTime, lengths: ChunkLengths): readonly number[] {
  const pauseHops = Math.round(PAUSE_SEC / HOP_SEC)
  const mostHops = Math.max(2, Math.floor(lengths.mostSamples / hopSamples))
  const searchHops = Math.min(Math.ceil(lengths.searchSamples / hopSamples), mostHops - 1)
  const cuts: number[] = []
  let start = 0
  while (powers.length - start > mostHops) {
    const latest = start + mostHops
    start = quietestHop(powers, latest - searchHops, latest, pauseHops)
    cuts.push(start * hopSamples)
  }
  return cuts
}

/** Middle of the quietest window that lies in the range as far as it fits; the latest one where several are alike. */
function quietestHop(powers: readonly number[], from: number, to: number, window: number): number {
  const length = Math.min(window, to - from)
  let sum = powers.slice(from, from + length).reduce((total, power) => total + power, 0)
  let best = { sum: Number.POSITIVE_INFINITY, at: to }
  for (let at = from; at + length <= to; at++) {
    if (sum <= best.sum) best = { sum, at: at + Math.ceil(length / 2) }
    sum += (powers[at + length] ?? 0) - (powers[at] as number)
    // Sums that go up and down leave a rest where all is silent.
    if (sum < 1e-18) sum = 0
  }
  return best.at
}
