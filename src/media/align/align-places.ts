import { correlate, energyOf, nearestWaveformPeak } from '../pcm/correlate.js'
import { type ComparableSignal, coarseFactor, comparable } from './align-signals.js'

/** The measurement at one place, before it is judged. */
export interface MeasuredPlace {
  readonly atSample: number
  readonly lagSamples: number
  readonly match: number
  /** Match at the expected lag, if the place was measured against one and is better at another. */
  readonly matchAsExpected?: number
  /** Mean squares at that lag in the speech band: the loudness of the cut and of the regenerated audio. */
  readonly cutPower: number
  readonly regeneratedPower: number
}

/** A stretch of the cut and the regenerated audio that may match it, mono, at the same rate. */
export interface Stretch {
  /** First sample of {@link cut} in the whole cut. */
  readonly atSample: number
  readonly cut: Float64Array
  /** Begins {@link marginSamples} before the cut's stretch and ends as many after it. */
  readonly regenerated: Float64Array
  readonly marginSamples: number
  readonly sampleRate: number
}

/** Length of a place: a few words, so that it contains voice, and short enough to locate a jump. */
const PLACE_SEC = 1
const HOP_SEC = 0.5
/** Search range around the stretch's own lag. A jump or drift within a stretch shows as a place with another lag. */
const NEARBY_SEC = 0.04
/** Below this match, a place is searched over the whole margin. */
const NEARBY_MATCH = 0.5
/** The expected lag, give or take a formant's ringing. */
const EXPECTED_SEC = 0.001
/** Share of the best match from which a place is at the expected lag. A voice can have half of it one pitch away. */
const AS_EXPECTED = 0.75

/**
 * Measures lag and match by waveform at half-overlapping places of a stretch. Overwrites the stretch's audio.
 *
 * @param expected a lag in samples, at which a place is counted unless another lag is clearly better. Tones, chords and
 * pauses match almost as well at other lags than their own
 */
export function measurePlaces(stretch: Stretch, expected?: number): readonly MeasuredPlace[] {
  const { sampleRate } = stretch
  const factor = coarseFactor(sampleRate)
  // The coarse and full grids of the regenerated audio must meet at the margin.
  const skew = stretch.marginSamples % factor
  const margin = (stretch.marginSamples - skew) / factor
  const cut = comparable(stretch.cut, sampleRate)
  const regenerated = comparable(stretch.regenerated.subarray(skew), sampleRate)
  // A steady tone fits at every period. Among equal peaks, the smallest shift is right.
  const overall = nearestWaveformPeak(correlate(cut.coarse, regenerated.coarse, margin), 0).lag
  const places = placesOf(cut.coarse.length, sampleRate / factor).map(({ start, length }) => {
    const reference = cut.coarse.subarray(start, start + length)
    const seek = (centre: number, reach: number) => {
      const found = nearestWaveformPeak(
        correlate(reference, part(regenerated.coarse, start + margin + centre - reach, length + 2 * reach), reach),
        overall - centre,
      )
      return { lag: centre + found.lag, match: found.match }
    }
    const near = seek(overall, Math.min(Math.round((NEARBY_SEC * sampleRate) / factor), margin))
    const isNear = near.match >= NEARBY_MATCH
    const greatest = isNear ? near : seek(0, margin)
    const atExpected =
      expected === undefined
        ? null
        : seek(Math.round(expected / factor), Math.round((EXPECTED_SEC * sampleRate) / factor))
    const isExpected = atExpected !== null && atExpected.match >= AS_EXPECTED * greatest.match
    const best = isExpected ? atExpected : greatest
    const heard = part(regenerated.coarse, start + margin + best.lag, length)
    return {
      ...{ start, length, best, isNear, expected: isExpected ? expected : undefined },
      ...(atExpected !== null && !isExpected && { matchAsExpected: atExpected.match }),
      cutPower: energyOf(reference) / length,
      regeneratedPower: energyOf(heard) / length,
    }
  })
  const exactOf = ({ start, length, best }: (typeof places)[number]) =>
    exactLag(cut, regenerated, {
      start: start * factor,
      length: length * factor,
      margin: margin * factor,
      lag: best.lag * factor,
      reach: factor,
    })
  // Places with one coarse lag share the fine one. They differ by less than a coarse sample, which is not a drift. The
  // loudest place states it: another may hold nothing but what the low-pass drew out of its neighbour.
  const loudest = new Map<number, (typeof places)[number]>()
  for (const place of places) {
    const other = loudest.get(place.best.lag)
    if (place.isNear && place.expected === undefined && (!other || place.cutPower > other.cutPower))
      loudest.set(place.best.lag, place)
  }
  const shared = new Map([...loudest].map(([lag, place]) => [lag, exactOf(place)]))
  return places.map((place): MeasuredPlace => {
    const { start, length, best, isNear, expected, ...measured } = place
    return {
      ...measured,
      atSample: stretch.atSample + start * factor,
      lagSamples: expected ?? shared.get(best.lag) ?? exactOf(place),
      match: Math.max(0, best.match),
    }
  })
}

/** Refines a coarse lag to the sample at the full rate. */
function exactLag(
  cut: ComparableSignal,
  regenerated: ComparableSignal,
  at: { start: number; length: number; margin: number; lag: number; reach: number },
): number {
  const reference = part(cut.full, at.start, at.length)
  const sought = part(regenerated.full, at.start + at.margin + at.lag - at.reach, at.length + 2 * at.reach)
  const products = Array.from({ length: 2 * at.reach + 1 }, (_, shift) => Math.abs(productOf(reference, sought, shift)))
  const greatest = Math.max(...products)
  return greatest === 0 ? at.lag : at.lag + products.indexOf(greatest) - at.reach
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

/** A part of a signal; samples outside of it are silence. */
function part(signal: Float64Array, start: number, length: number): Float64Array {
  if (start >= 0 && start + length <= signal.length) return signal.subarray(start, start + length)
  const out = new Float64Array(length)
  const inner = signal.subarray(Math.max(0, start), Math.max(0, start + length))
  out.set(inner, Math.max(0, -start))
  return out
}
