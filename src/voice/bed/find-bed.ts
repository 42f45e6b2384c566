import { slidingMean } from '../restore/sliding.js'
import { steadyTones, TONE_HOP, TONE_RATE } from './steady-tones.js'

/** Seconds of one value of {@link findBed}. */
export const BED_HOP_SEC = TONE_HOP / TONE_RATE

/** A chord has at least so many tones. */
const LEAST_TONES = 3
/** Harmonics lie so near to a multiple of their fundamental; the third of a tempered chord is further away. */
const HARMONIC_HZ = 1
const HARMONIC_SHARE = 0.0015
/** A fundamental is searched below each tone: that of a high harmonic is exact. */
const DIVISORS = [1, 2, 3, 4, 5, 6]
const LOWEST_FUNDAMENTAL_HZ = 60
/** More tones of one fundamental are a machine or a voice, with a stray tone beside it. */
const MOST_OF_ONE = 0.8

/** Chords are counted over so long before and after a place, and the highest share counts for so long around it. */
const BEFORE_SEC = 3.04
const AFTER_SEC = 1.6
const HOLD_BEFORE_SEC = 2.24
const HOLD_AFTER_SEC = 1.2
const FADE_SEC = 0.16

/**
 * Share of frames with a chord below which there is no bed, and from which on there is one. Speech in recorded noise
 * stays below 0.3, and made music 12 dB under speech mostly reaches 0.38.
 */
const NO_BED = 0.34
const BED = 0.38

/**
 * Finds music under a voice: chords, that is tones that stay and do not belong to one fundamental. The tones of a voice,
 * a machine or the mains have one fundamental. Drums alone and very dense music are not found.
 *
 * @param sound one channel at {@link TONE_RATE}
 * @returns 0 (no bed) … 1 (a bed), every {@link BED_HOP_SEC}; the first value lies at the start
 */
export function findBed(sound: Float32Array): Float64Array {
  const chords = Float64Array.from(steadyTones(sound), (tones) => (isChord(tones) ? 1 : 0))
  const share = within(chords, BEFORE_SEC, AFTER_SEC, (values) => values.reduce((sum, x) => sum + x, 0) / values.length)
  const held = within(share, HOLD_BEFORE_SEC, HOLD_AFTER_SEC, (values) => Math.max(...values))
  const bed = held.map((value) => Math.min(1, Math.max(0, (value - NO_BED) / (BED - NO_BED))))
  return slidingMean(bed, Math.round(FADE_SEC / BED_HOP_SEC)).map(exact)
}

/** The running sums leave a crumb, but 0 and 1 have to be exact. */
function exact(value: number): number {
  return value < 1e-9 ? 0 : value > 1 - 1e-9 ? 1 : value
}

/** Measures the values around each place. */
function within(
  values: Float64Array,
  beforeSec: number,
  afterSec: number,
  measure: (values: Float64Array) => number,
): Float64Array {
  const [before, after] = [Math.round(beforeSec / BED_HOP_SEC), Math.round(afterSec / BED_HOP_SEC)]
  return values.map((_, i) => measure(values.subarray(Math.max(0, i - before), i + after + 1)))
}

function isChord(tones: readonly number[]): boolean {
  if (tones.length < LEAST_TONES) return false
  return tones.every((low) =>
    DIVISORS.every((divisor) => {
      const fundamental = low / divisor
      if (fundamental < LOWEST_FUNDAMENTAL_HZ) return true
      return tones.filter((hz) => isMultiple(hz, fundamental)).length <= MOST_OF_ONE * tones.length
    }),
  )
}

function isMultiple(hz: number, fundamental: number): boolean {
  const nearest = Math.max(1, Math.round(hz / fundamental)) * fundamental
  return Math.abs(hz - nearest) < HARMONIC_HZ + HARMONIC_SHARE * hz
}
