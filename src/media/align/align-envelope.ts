import { correlate, energyOf, peakOf } from '../pcm/correlate.js'
import type { MeasuredPlace, Stretch } from './align-places.js'

/** Centres of the speech bands. Together they tell apart syllables of equal loudness. */
const BANDS_HZ = [350, 700, 1400, 2800]
/** Places are longer than for waveforms, because an envelope has less information per second. */
const PLACE_SEC = 2
const HOP_SEC = 0.5

/**
 * Measures lag and match from the loudness of bands over time, one value per millisecond. It serves regenerated voices
 * with a new waveform and the words at their old places. Accurate to about a millisecond.
 */
export function measureEnvelopePlaces(stretch: Stretch): readonly MeasuredPlace[] {
  const hop = Math.round(stretch.sampleRate / 1000)
  const margin = Math.floor(stretch.marginSamples / hop)
  const cut = bandEnvelopes(stretch.cut, stretch.sampleRate, hop)
  const regenerated = bandEnvelopes(
    stretch.regenerated.subarray(stretch.marginSamples - margin * hop),
    stretch.sampleRate,
    hop,
  )
  const total = cut[0]?.length ?? 0
  // A short cut still gets several places, because a single one could not show a drift.
  const length = Math.min(Math.round((PLACE_SEC * stretch.sampleRate) / hop), Math.ceil(total / 2))
  const step = Math.max(1, Math.min(Math.round((HOP_SEC * stretch.sampleRate) / hop), Math.floor(length / 2)))
  const count = Math.floor((total - length) / step) + 1
  return Array.from({ length: count }, (_, index): MeasuredPlace => {
    const start = index * step
    const sum = new Float64Array(2 * margin + 1)
    for (const [band, envelope] of cut.entries()) {
      const sought = (regenerated[band] as Float64Array).subarray(start, start + length + 2 * margin)
      const { values } = correlate(envelope.subarray(start, start + length), sought, margin)
      for (let lag = 0; lag < sum.length; lag++) sum[lag] = (sum[lag] as number) + (values[lag] as number) / cut.length
    }
    const { lag, match } = peakOf({ values: sum, maxLag: margin })
    const from = start * hop
    const heard = from + stretch.marginSamples + lag * hop
    return {
      atSample: stretch.atSample + from,
      lagSamples: Math.round((lag + vertexOffset(sum, lag + margin)) * hop),
      match: Math.max(0, match),
      cutPower: energyOf(stretch.cut.subarray(from, from + length * hop)) / (length * hop),
      regeneratedPower: energyOf(stretch.regenerated.subarray(heard, heard + length * hop)) / (length * hop),
    }
  })
}

/** Offset of the peak within the grid: the vertex of the parabola through it and its neighbours, -0.5 … 0.5. */
function vertexOffset(values: Float64Array, peak: number): number {
  const [before, at, after] = [values[peak - 1], values[peak], values[peak + 1]]
  if (before === undefined || at === undefined || after === undefined) return 0
  const bend = before - 2 * at + after
  return bend < 0 ? Math.max(-0.5, Math.min(0.5, (before - after) / (2 * bend))) : 0
}

function bandEnvelopes(mono: Float64Array, sampleRate: number, hop: number): Float64Array[] {
  return BANDS_HZ.filter((centre) => centre < sampleRate / 2.5).map((centre) => {
    const levels = bandLevels(mono, sampleRate, centre, hop)
    return withoutTrend(smoothed(levels, 4).map(Math.sqrt), 150)
  })
}

/** Mean square of one band in each hop (a constant-peak band-pass of one octave). */
function bandLevels(mono: Float64Array, sampleRate: number, centreHz: number, hop: number): Float64Array {
  const omega = (2 * Math.PI * centreHz) / sampleRate
  const alpha = Math.sin(omega) / (2 * 1.4)
  const [gain, a1, a2] = [alpha / (1 + alpha), (-2 * Math.cos(omega)) / (1 + alpha), (1 - alpha) / (1 + alpha)]
  const levels = new Float64Array(Math.floor(mono.length / hop))
  let [x1, x2, y1, y2] = [0, 0, 0, 0]
  for (let index = 0; index < levels.length * hop; index++) {
    const x = mono[index] as number
    const y = gain * (x - x2) - a1 * y1 - a2 * y2
    ;[x2, x1, y2, y1] = [x1, x, y1, y]
    const slot = Math.floor(index / hop)
    levels[slot] = (levels[slot] as number) + (y * y) / hop
  }
  return levels
}

/** Moving mean of `2 * reach + 1` values. */
function smoothed(values: Float64Array, reach: number): Float64Array {
  const sums = new Float64Array(values.length + 1)
  for (let index = 0; index < values.length; index++)
    sums[index + 1] = (sums[index] as number) + (values[index] as number)
  return values.map((_, index) => {
    const [from, to] = [Math.max(0, index - reach), Math.min(values.length, index + reach + 1)]
    return ((sums[to] as number) - (sums[from] as number)) / (to - from)
  })
}

/** Removes the slow rise and fall, which would make any two sentences look alike. */
function withoutTrend(values: Float64Array, reach: number): Float64Array {
  const trend = smoothed(values, reach)
  return values.map((value, index) => value - (trend[index] as number))
}
