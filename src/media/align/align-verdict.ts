import { VerificationError } from '../../core/errors.js'
import type { Alignment } from '../voice-cut.js'
import type { MeasuredPlace } from './align-places.js'

/** Thresholds for trusting a place, from `test/bench/alignment-calibration.ts`, whose table has the margins. */
export interface AlignmentThresholds {
  readonly method: Alignment['method']
  /** A place with this match is the same audio. Other speech reaches 0.2 by waveform. */
  readonly same: number
  /** A place with this match at another lag than the rest is a jump or drift. */
  readonly elsewhere: number
  /** Share of the voiced power that must match at one lag. */
  readonly support: number
  /** Lags within this tolerance are equal: filters and noise move a peak a little. */
  readonly toleranceSec: number
}

/** A place below this share of the loudest one (-30 dB) is a pause. */
const PAUSE = 1e-3
/** A place that lost this much more level than the others (-20 dB) was noise that was removed. */
const TAKEN_AWAY = 1e-2
/** Smallest share of the voiced power that must be found, however much was noise. */
const LEAST_FOUND = 0.2
/** With this match, and less than half of it at the expected lag, a place is elsewhere whatever the others show. */
const CLEARLY_ELSEWHERE = 0.6
/** Mean square of silence in any case: -80 dB in the speech band. */
const SILENT_POWER = 1e-8

export type AlignmentVerdict =
  | { readonly kind: 'aligned'; readonly alignment: Alignment }
  | { readonly kind: 'silent' }
  | { readonly kind: 'weak'; readonly support: number; readonly lag: number }
  | { readonly kind: 'drift'; readonly lags: readonly [number, number] }

/**
 * Judges all places together: most of the voice must agree on one lag, and nothing may contradict it.
 *
 * @param expected the lag, if the places were measured against one
 */
export function judgePlaces(
  places: readonly MeasuredPlace[],
  sampleRate: number,
  thresholds: AlignmentThresholds,
  expected?: number,
): AlignmentVerdict {
  const loudest = Math.max(...places.map(({ cutPower }) => cutPower), 0)
  const voiced = places.filter(({ cutPower }) => cutPower > Math.max(loudest * PAUSE, SILENT_POWER))
  if (voiced.length === 0) return { kind: 'silent' }
  const same = voiced.filter(({ match }) => match >= thresholds.same)
  const lag = expected ?? weightedMedian(same)
  const tolerance = thresholds.toleranceSec * sampleRate
  const agrees = ({ lagSamples }: MeasuredPlace) => Math.abs(lagSamples - lag) <= tolerance
  const supporting = same.filter(agrees)
  const usualGain = Math.max(...supporting.map(gainOf), 0)
  const heard = voiced.filter((place) => place.match >= thresholds.same || gainOf(place) > usualGain * TAKEN_AWAY)
  const found = powerOf(supporting) / powerOf(voiced)
  const support = found < LEAST_FOUND ? found : powerOf(supporting) / powerOf(heard)
  const elsewhere = same.filter((place) => !agrees(place) && place.match >= thresholds.elsewhere)
  const contrary = elsewhere.filter((place) => isContrary(place, elsewhere, tolerance))
  const astray = contrary[0]
  // Most of the voice is found, but not at one lag. If little is found at all, it is other audio.
  if (astray && powerOf([...supporting, ...contrary]) > powerOf(heard) / 2)
    return { kind: 'drift', lags: [lag, astray.lagSamples] }
  if (astray || support < thresholds.support) return { kind: 'weak', support, lag }
  const match = Math.min(1, ...supporting.map((place) => place.match))
  return { kind: 'aligned', alignment: { lagSamples: lag, match, method: thresholds.method } }
}

/** A jump or a drift shows in several places. A single one may match an earlier word better than its own remains. */
function isContrary(place: MeasuredPlace, elsewhere: readonly MeasuredPlace[], tolerance: number): boolean {
  const { match, matchAsExpected, lagSamples } = place
  if (matchAsExpected === undefined) return true
  if (match >= CLEARLY_ELSEWHERE && matchAsExpected < match / 2) return true
  return elsewhere.some((other) => other !== place && Math.abs(other.lagSamples - lagSamples) <= tolerance)
}

const REMEDIES = [
  'Compare the regenerated audio with the voice that was sent. Both files are kept.',
  'Report it to the operator of the service. Another run gets the same audio and costs nothing.',
]

/** The error for regenerated audio that is not the sent voice. */
export function notAligned(audioPath: string, why: string): VerificationError {
  const message = `The regenerated audio does not line up with the voice that was sent: ${why}.`
  return new VerificationError('ERR_ALIGNMENT', message, { input: audioPath, remedies: REMEDIES })
}

/** The error for regenerated audio whose lag differs between places. */
export function drifts(
  audioPath: string,
  [one, other]: readonly [number, number],
  sampleRate: number,
): VerificationError {
  const ms = (samples: number) => `${((samples / sampleRate) * 1000).toFixed(1)} ms`
  const lags = `${ms(one)} late at one place and ${ms(other)} at another`
  const message = `The regenerated audio is ${lags}, so no shift puts it in sync.`
  return new VerificationError('ERR_ALIGNMENT_DRIFT', message, { input: audioPath, remedies: REMEDIES })
}

function gainOf({ cutPower, regeneratedPower }: MeasuredPlace): number {
  return regeneratedPower / cutPower
}

function powerOf(places: readonly MeasuredPlace[]): number {
  return places.reduce((sum, { cutPower }) => sum + cutPower, 0)
}

function weightedMedian(places: readonly MeasuredPlace[]): number {
  const sorted = places
    .map(({ lagSamples, match, cutPower }) => ({ lagSamples, weight: match * match * Math.sqrt(cutPower) }))
    .sort((one, other) => one.lagSamples - other.lagSamples)
  const half = sorted.reduce((sum, { weight }) => sum + weight, 0) / 2
  let sum = 0
  for (const { lagSamples, weight } of sorted) {
    sum += weight
    if (sum >= half) return lagSamples
  }
  return 0
}
