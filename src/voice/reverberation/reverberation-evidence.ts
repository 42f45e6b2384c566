import { smoothStep } from '../restore/smooth-step.js'
import { LATE_PREDICTION, predictReverberation } from './late-reverberation.js'

/** The bins that are examined: 250 Hz to 4 kHz, the band of every voice. */
export const EVIDENCE_BINS: readonly number[] = Array.from({ length: 24 }, (_, i) => 8 + 5 * i)

const PREDICTION = { delay: 4, taps: 8, passes: 1 } as const

/**
 * A frame falls if its power is below this share of the mean of so many frames, up to four frames before it. Only falling
 * frames show a room: a steady tone is also explained by its past, until it ends.
 */
const STEEP_FALL = { frames: 5, share: 0.25 } as const
const FALL = { frames: 9, share: 0.5 } as const
const EVERY = { frames: 1, share: Number.POSITIVE_INFINITY } as const

/**
 * Power of falling frames that the past explains, in dB. Dry speech, noise, applause and music stay below the first figure.
 * Speech in a room exceeds the second, from a reverberation of 0.3 s on.
 */
const DRY_DB = 0.1
const REVERBERANT_DB = 0.25
/** The past explains tones that fade by more than this in all frames. Speech in a room stays below 1 dB. */
const TONAL_DB = 3

/**
 * Finds how surely a sound is reverberant. In a room, a sound falls as its past predicts. Speech itself ends sooner. The
 * evidence is the lower quartile of the bins, or the median of steep falls if that is less. Tones are explained in
 * every frame, and count as dry.
 *
 * @param rows spectra of {@link EVIDENCE_BINS}
 * @returns 0 (dry) … 1
 */
export function reverberationEvidence(rows: readonly Float64Array[]): number {
  const explained = rows.map((row) => {
    const power = powerOf(row)
    const late = predictReverberation(row, PREDICTION)
    for (let i = 0; i < late.length; i++) late[i] = (row[i] ?? 0) - (late[i] ?? 0)
    const rest = powerOf(late)
    return {
      fall: explainedDb(power, rest, FALL),
      steepFall: explainedDb(power, rest, STEEP_FALL),
      all: explainedDb(power, rest, EVERY),
    }
  })
  const ranked = (figure: 'fall' | 'steepFall' | 'all', rank: number) =>
    explained.map((each) => each[figure]).sort((a, b) => a - b)[Math.floor(rank * explained.length)] ?? 0
  if (ranked('all', 0.5) > TONAL_DB) return 0
  const db = Math.min(ranked('fall', 0.25), ranked('steepFall', 0.5))
  return smoothStep(db, DRY_DB, REVERBERANT_DB)
}

/**
 * Measures late reverberation relative to the whole sound, as far as the past explains it.
 *
 * @param rows spectra of {@link EVIDENCE_BINS}
 * @returns level in dB, −60 at least
 */
export function reverberationLevel(rows: readonly Float64Array[]): number {
  let [power, late] = [1e-12, 0]
  for (const row of rows) {
    power += energyOf(row)
    late += energyOf(predictReverberation(row, LATE_PREDICTION))
  }
  return 10 * Math.log10(Math.max(1e-6, late / power))
}

/** An iterator would make garbage for each value. */
function energyOf(row: Float64Array): number {
  let energy = 0
  for (let i = 0; i < row.length; i++) energy += (row[i] ?? 0) ** 2
  return energy
}

function powerOf(row: Float64Array): Float64Array {
  const power = new Float64Array(row.length / 2)
  for (let t = 0; t < power.length; t++) power[t] = (row[2 * t] ?? 0) ** 2 + (row[2 * t + 1] ?? 0) ** 2
  return power
}

/** How much less is left of the falling frames without the prediction, in dB. */
function explainedDb(
  power: Float64Array,
  rest: Float64Array,
  { frames, share }: { readonly frames: number; readonly share: number },
): number {
  let [was, is, before] = [1e-12, 1e-12, 0]
  for (let t = PREDICTION.delay; t < power.length; t++) {
    before += (power[t - PREDICTION.delay] ?? 0) - (power[t - PREDICTION.delay - frames] ?? 0)
    if ((power[t] ?? 0) >= (share * before) / frames) continue
    was += power[t] ?? 0
    is += rest[t] ?? 0
  }
  return 10 * Math.log10(was / is)
}
