import { energyOf } from '../pcm/correlate.js'
import { frameBytes, type PcmStream } from '../pcm/pcm.js'
import { PcmReader } from '../pcm/pcm-reader.js'
import { readSamples } from '../pcm/pcm-samples.js'

/** The loudness of a track over time: one mean square per 10 ms. */
export interface LoudnessOverTime {
  readonly hopSamples: number
  readonly powers: readonly number[]
}

const HOP_SEC = 0.01
/** Length over which a pause is judged, because a word contains single quiet hops too. */
const PAUSE_SEC = 0.2

/** Reads a stream once and keeps one number per 10 ms. */
export async function loudnessOverTime(stream: PcmStream): Promise<LoudnessOverTime> {
  const hopSamples = Math.round(HOP_SEC * stream.format.sampleRate)
  const reader = new PcmReader(stream)
  const powers: number[] = []
  for (;;) {
    const bytes = await reader.read(hopSamples)
    if (bytes.length === 0) return { hopSamples, powers }
    powers.push(energyOf(readSamples(bytes, stream.format.sample)) / (bytes.length / frameBytes(stream.format)))
  }
}

interface CutLengths {
  /** Length of the longest chunk. */
  readonly mostSamples: number
  /** Length of the search for a quieter position before that. */
  readonly searchSamples: number
}

/**
 * Plans where to cut a track into chunks: at the middle of the quietest pause in the last part of each chunk. Positions
 * in samples, ascending, inside the track; none for a short track. Pure.
 */
export function cutsAtPauses({ hopSamples, powers }: LoudnessOverTime, lengths: CutLengths): readonly number[] {
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

/** Middle of the quietest window that fits the range; the latest of several equal ones. */
function quietestHop(powers: readonly number[], from: number, to: number, window: number): number {
  const length = Math.min(window, to - from)
  let sum = powers.slice(from, from + length).reduce((total, power) => total + power, 0)
  let best = { sum: Number.POSITIVE_INFINITY, at: to }
  for (let at = from; at + length <= to; at++) {
    if (sum <= best.sum) best = { sum, at: at + Math.ceil(length / 2) }
    sum += (powers[at + length] ?? 0) - (powers[at] as number)
    // A running sum leaves a residue in silence.
    if (sum < 1e-18) sum = 0
  }
  return best.at
}
