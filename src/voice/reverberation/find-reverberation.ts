import { LATE_PREDICTION, predictReverberation } from './late-reverberation.js'
import { EVIDENCE_BINS, reverberationEvidence } from './reverberation-evidence.js'
import { ALL_BINS, SPECTRUM_HOP, shortSpectra, soundOf } from './short-spectra.js'

/** Samples a second of the sound that is examined. Above 8 kHz a room has little reverberation. */
export const REVERBERATION_RATE = 16_000
/** A room is judged over six seconds, every three. Both are multiples of a hop. */
const STEP_SAMPLES = 3 * REVERBERATION_RATE
const PART_SAMPLES = 2 * STEP_SAMPLES
/** Shorter sound does not show its room. */
const LEAST_SAMPLES = 1.5 * REVERBERATION_RATE

/**
 * Finds the late reverberation of a voice, if there is any. Parts of six seconds are judged and predicted apart and
 * cross-faded, so that the result of neighbouring blocks meets.
 *
 * @param low one channel, 16 kHz
 * @param origin sample that lies alike in every block: parts are centred on it
 * @returns what to add so that the reverberation is gone: the channel's length, in its place. Undefined if it is dry.
 */
export function findReverberation(low: Float32Array, origin: number): Float32Array<ArrayBuffer> | undefined {
  if (low.length < LEAST_SAMPLES) return undefined
  const spectra = shortSpectra(low, EVIDENCE_BINS)
  let change: Float32Array<ArrayBuffer> | undefined
  let part: Part | undefined
  for (let centre = origin % STEP_SAMPLES; centre < low.length + STEP_SAMPLES; centre += STEP_SAMPLES) {
    const start = Math.max(0, Math.min(low.length - PART_SAMPLES, centre - STEP_SAMPLES))
    if (part?.start !== start) part = partAt(low, start, spectra)
    if (part.evidence === 0) continue
    change ??= new Float32Array(low.length)
    fadeIn(change, part, centre)
  }
  return change
}

/** A stretch of the sound, and the reverberation in it. */
interface Part {
  readonly start: number
  readonly evidence: number
  readonly late: Float32Array
}

function partAt(low: Float32Array, start: number, spectra: readonly Float64Array[]): Part {
  const from = Math.floor(start / SPECTRUM_HOP)
  const to = from + PART_SAMPLES / SPECTRUM_HOP
  const evidence = reverberationEvidence(spectra.map((row) => row.subarray(2 * from, 2 * to)))
  if (evidence === 0) return { start, evidence, late: new Float32Array(0) }
  const sound = low.subarray(start, start + PART_SAMPLES)
  const rows = shortSpectra(sound, ALL_BINS).map((row) => predictReverberation(row, LATE_PREDICTION))
  return { start, evidence, late: soundOf(rows, sound.length) }
}

/** Adds a part with a weight that falls from its centre to the centres of its neighbours. */
function fadeIn(change: Float32Array, { start, evidence, late }: Part, centre: number): void {
  const from = Math.max(0, start, centre - STEP_SAMPLES)
  const to = Math.min(change.length, start + late.length, centre + STEP_SAMPLES)
  for (let i = from; i < to; i++) {
    const weight = 0.5 + 0.5 * Math.cos((Math.PI * (i - centre)) / STEP_SAMPLES)
    change[i] = (change[i] ?? 0) - evidence * weight * (late[i - start] ?? 0)
  }
}
