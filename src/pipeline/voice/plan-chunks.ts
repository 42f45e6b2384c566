import { cutsAtPauses, type LoudnessOverTime, type SampleRange } from '../../media/index.js'
import { type ChunkLengths, partCount } from '../plan/chunk-lengths.js'

/** The division of a voice. Positions count from its own first sample. */
interface ChunkPlan {
  /** The ranges to send, in order; each overlaps the next. */
  readonly ranges: readonly SampleRange[]
  /** `joins[i]` is the join of part `i` and part `i + 1`. */
  readonly joins: readonly number[]
}

/** Seconds of audio at usual loudness around a join that are needed to compare levels. */
const VOICED_SEC = 1
/** A hop below this share of the mean power (-10 dB) is a pause. */
const PAUSE_PART = 0.1
const REACH_STEP_SEC = 0.25

/**
 * Divides a voice at pauses into parts of about equal length. The parts overlap at each join until the overlap contains
 * a second of voice. Pure: the same voice is always divided the same way, so that a later run finds each part.
 *
 * @returns one range and no join for a short voice
 */
export function planChunks(
  loudness: LoudnessOverTime,
  voice: { readonly sampleCount: number; readonly sampleRate: number },
  lengths: ChunkLengths,
): ChunkPlan {
  const { sampleCount, sampleRate } = voice
  if (sampleCount <= lengths.mostSec * sampleRate) {
    return { ranges: [{ startSample: 0, endSample: sampleCount }], joins: [] }
  }
  const aimSec = sampleCount / sampleRate / partCount(sampleCount / sampleRate, lengths)
  const joins = cutsAtPauses(loudness, {
    mostSamples: Math.floor((aimSec + lengths.searchSec / 2) * sampleRate),
    searchSamples: Math.floor(lengths.searchSec * sampleRate),
  })
  const reaches = joins.map((join) => reachOf(loudness, join, sampleRate, lengths))
  const bounds = [0, ...joins, sampleCount]
  const ranges = bounds.slice(1).map((end, index) => ({
    startSample: Math.max(0, (bounds[index] as number) - (reaches[index - 1] ?? 0)),
    endSample: Math.min(sampleCount, end + (reaches[index] ?? 0)),
  }))
  return { ranges, joins }
}

function reachOf({ hopSamples, powers }: LoudnessOverTime, join: number, sampleRate: number, lengths: ChunkLengths) {
  const usual = powers.reduce((sum, power) => sum + power, 0) / powers.length
  const most = Math.floor(lengths.reachSec * sampleRate)
  const step = Math.ceil(REACH_STEP_SEC * sampleRate)
  for (let reach = Math.min(step, most); reach < most; reach = Math.min(reach + step, most)) {
    const near = powers.slice(
      Math.max(0, Math.floor((join - reach) / hopSamples)),
      Math.ceil((join + reach) / hopSamples),
    )
    const voiced = near.filter((power) => power > usual * PAUSE_PART).length * hopSamples
    if (voiced >= VOICED_SEC * sampleRate) return reach
  }
  return most
}
