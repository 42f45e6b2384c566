import { type ComparableSignal, coarseFactor, comparable } from './align-signals.js'
import { correlate, energyOf, nearestWaveformPeak } from './correlate.js'

/** What was measured at one place, before it is judged. */
export interface MeasuredPlace {
  /** First sample of the place, counted in the cut. */
  readonly atSample: number
  /** Samples by which the answer is late here. */
  readonly lagSamples: number
  /** Likeness at that lag, in the speech band: up to 1. */
  readonly match: number
  /** Mean squares at that lag, in the speech band: how loud it is in the cut and in the answer. */
  readonly cutPower: number
  readonly answerPower: number
}

/** A stretch of the cut and the stretch of the answer that may hold it, mono, at the same rate. */
export interface Stretch {
  /** First sample of {@link cut}, counted in the whole cut. */
  readonly atSample: number
  readonly cut: Float64Array
  /** Begins {@link marginSamples} before the cut's stretch and ends as many after it. */
  readonly answer: Float64Array
  readonly marginSamples: number
  readonly sampleRate: number
}

/** Length of a place: a few words, so that it holds voice, and short enough to tell where a jump lies. */
const PLACE_SEC = 1
const HOP_SEC = 0.5
/** Search round the stretch's own lag: a jump or drift within a stretch shows as a place that finds another. */
const NEARBY_SEC = 0.04
/** A place that finds so little nearby looks over the whole margin. */
const NEARBY_MATCH = 0.5

/** Measures lag and likeness by waveform at places over a stretch, half overlapping. The stretch's sound is used up. */
export function measurePlaces(stretch: Stretch): readonly MeasuredPlace[] {
  const { sampleRate } = stretch
  const factor = coarseFactor(sampleRate)
  // Coarse and full grid of the answer must meet at the margin.
  const skew = stretch.marginSamples % factor
  const margin = (stretch.marginSamples - skew) / factor
  const cut = comparable(stretch.cut, sampleRate)
  const answer = comparable(stretch.answer.subarray(skew), sampleRate)
  // A steady tone fits at every period: of equal peaks the one that moves least is meant.
  const overall = nearestWaveformPeak(correlate(cut.coarse, answer.coarse, margin), 0).lag
  const exactLags = new Map<number, number>()
  return placesOf(cut.coarse.length, sampleRate / factor).map(({ start, length }): MeasuredPlace => {
    const reference = cut.coarse.subarray(start, start + length)
    const seek = (centre: number, reach: number) => {
      const found = nearestWaveformPeak(
        correlate(reference, part(answer.coarse, start + margin + centre - reach, length + 2 * reach), reach),
        overall - centre,
      )
      return { lag: centre + found.lag, match: found.match }
    }
    const near = seek(overall, Math.min(Math.round((NEARBY_SEC * sampleRate) / factor), margin))
    const best = near.match >= NEARBY_MATCH ? near : seek(0, margin)
    const heard = part(answer.coarse, start + margin + best.lag, length)
    // Places of one coarse lag share the fine one: they differ by less than a coarse sample, which is no drift.
    const lagSamples =
      exactLags.get(best.lag) ??
      exactLag(cut, answer, {
        start: start * factor,
        length: length * factor,
        margin: margin * factor,
        lag: best.lag * factor,
        reach: factor,
      })
    if (near.match >= NEARBY_MATCH) exactLags.set(best.lag, lagSamples)
    return {
      atSample: stretch.atSample + start * factor,
      lagSamples,
      match: Math.max(0, best.match),
      cutPower: energyOf(reference) / length,
      answerPower: energyOf(heard) / length,
    }
  })
}

/** Refines a coarse lag to the sample at the full rate. */
function exactLag(
  cut: ComparableSignal,
  answer: ComparableSignal,
  at: { start: number; length: number; margin: number; lag: number; reach: number },
): number {
  const reference = part(cut.full, at.start, at.length)
  const sought = part(answer.full, at.start + at.margin + at.lag - at.reach, at.length + 2 * at.reach)
  const products = Array.from({ length: 2 * at.reach + 1 }, (_, shift) => Math.abs(productOf(reference, sought, shift)))
  return at.lag + products.indexOf(Math.max(...products)) - at.reach
}

function productOf(reference: Float64Array, signal: Float64Array, shift: number): number {
  let sum = 0
  for (let index = 0; index < reference.length; index++) {
    sum += (reference[index] as number) * (signal[index + shift] as number)
  }
  return sum
}

function placesOf(length: number, rate: number): { start: number; length: number }[] {
  const place = Math.min(Math.round(PLACE_SEC * rate), length)
  const hop = Math.round(HOP_SEC * rate)
  const starts = Array.from({ length: Math.floor((length - place) / hop) + 1 }, (_, index) => index * hop)
  const last = length - place
  if (last - (starts.at(-1) ?? 0) > hop / 4) starts.push(last)
  return starts.map((start) => ({ start, length: place }))
}

/** A part of a signal; what lies outside of it is silence. */
function part(signal: Float64Array, start: number, length: number): Float64Array {
  if (start >= 0 && start + length <= signal.length) return signal.subarray(start, start + length)
  const out = new Float64Array(length)
  const inner = signal.subarray(Math.max(0, start), Math.max(0, start + length))
  out.set(inner, Math.max(0, -start))
  return out
}
