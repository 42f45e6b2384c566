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
  const signals = signalsOf(stretch)
  const { factor, cut } = signals
  const places = placesOf(cut.coarse.length, stretch.sampleRate / factor).map((span) => locate(span, signals, expected))
  const shared = sharedLags(places, signals)
  return places.map((place): MeasuredPlace => {
    const { start, length, lag, match, isNear, expected, ...measured } = place
    return {
      ...measured,
      atSample: stretch.atSample + start * factor,
      lagSamples: expected ?? shared.get(lag) ?? exactLag(place, signals),
      match: Math.max(0, match),
    }
  })
}

/** The signals of a stretch, each at the coarse and the full rate. */
interface Signals {
  readonly sampleRate: number
  /** Samples at the full rate in a coarse one. */
  readonly factor: number
  /** Coarse samples by which the regenerated audio begins before the cut. */
  readonly margin: number
  readonly cut: ComparableSignal
  readonly regenerated: ComparableSignal
  /** Coarse lag of the whole stretch. */
  readonly overall: number
}

function signalsOf(stretch: Stretch): Signals {
  const { sampleRate, marginSamples } = stretch
  const factor = coarseFactor(sampleRate)
  // The coarse and full grids of the regenerated audio must meet at the margin.
  const skew = marginSamples % factor
  const margin = (marginSamples - skew) / factor
  const cut = comparable(stretch.cut, sampleRate)
  const regenerated = comparable(stretch.regenerated.subarray(skew), sampleRate)
  // A steady tone fits at every period. Among equal peaks, the smallest shift is right.
  const overall = nearestWaveformPeak(correlate(cut.coarse, regenerated.coarse, margin), 0).lag
  return { sampleRate, factor, margin, cut, regenerated, overall }
}

/** A part of a stretch, in coarse samples. */
interface Span {
  readonly start: number
  readonly length: number
}

/** A place with its coarse lag. */
interface LocatedPlace extends Span, Omit<MeasuredPlace, 'atSample' | 'lagSamples'> {
  readonly lag: number
  /** Found near the lag of the whole stretch. */
  readonly isNear: boolean
  /** The expected lag in full samples, if the place is at it. */
  readonly expected: number | undefined
}

function locate(span: Span, signals: Signals, expected: number | undefined): LocatedPlace {
  const { sampleRate, factor, margin, regenerated, cut, overall } = signals
  const { start, length } = span
  const coarse = (sec: number) => Math.round((sec * sampleRate) / factor)
  const near = seek(span, signals, overall, Math.min(coarse(NEARBY_SEC), margin))
  const isNear = near.match >= NEARBY_MATCH
  const greatest = isNear ? near : seek(span, signals, 0, margin)
  const atExpected =
    expected === undefined ? null : seek(span, signals, Math.round(expected / factor), coarse(EXPECTED_SEC))
  const isExpected = atExpected !== null && atExpected.match >= AS_EXPECTED * greatest.match
  const best = isExpected ? atExpected : greatest
  return {
    ...{ start, length, ...best, isNear, expected: isExpected ? expected : undefined },
    ...(atExpected !== null && !isExpected && { matchAsExpected: atExpected.match }),
    cutPower: energyOf(cut.coarse.subarray(start, start + length)) / length,
    regeneratedPower: energyOf(part(regenerated.coarse, start + margin + best.lag, length)) / length,
  }
}

/** Finds the best match of a place among the coarse lags within `reach` of a centre. */
function seek(
  { start, length }: Span,
  { cut, regenerated, margin, overall }: Signals,
  centre: number,
  reach: number,
): { readonly lag: number; readonly match: number } {
  const sought = part(regenerated.coarse, start + margin + centre - reach, length + 2 * reach)
  const correlation = correlate(cut.coarse.subarray(start, start + length), sought, reach)
  const found = nearestWaveformPeak(correlation, overall - centre)
  return { lag: centre + found.lag, match: found.match }
}

/**
 * Full lags by coarse ones. Places with one coarse lag share the fine one: they differ by less than a coarse sample,
 * which is not a drift. The loudest place states it: another may hold nothing but what the low-pass drew out of its
 * neighbour.
 */
function sharedLags(places: readonly LocatedPlace[], signals: Signals): ReadonlyMap<number, number> {
  const loudest = new Map<number, LocatedPlace>()
  for (const place of places) {
    const other = loudest.get(place.lag)
    if (place.isNear && place.expected === undefined && (!other || place.cutPower > other.cutPower))
      loudest.set(place.lag, place)
  }
  return new Map([...loudest].map(([lag, place]) => [lag, exactLag(place, signals)]))
}

/** Refines the lag of a place to the sample at the full rate. */
function exactLag({ start, length, lag }: LocatedPlace, { cut, regenerated, factor, margin }: Signals): number {
  const reference = part(cut.full, start * factor, length * factor)
  const sought = part(regenerated.full, (start + margin + lag - 1) * factor, (length + 2) * factor)
  const products = Array.from({ length: 2 * factor + 1 }, (_, shift) => Math.abs(productOf(reference, sought, shift)))
  const greatest = Math.max(...products)
  return lag * factor + (greatest === 0 ? 0 : products.indexOf(greatest) - factor)
}

function productOf(reference: Float64Array, signal: Float64Array, shift: number): number {
  let sum = 0
  for (let index = 0; index < reference.length; index++) {
    sum += (reference[index] as number) * (signal[index + shift] as number)
  }
  return sum
}

function placesOf(length: number, rate: number): Span[] {
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
