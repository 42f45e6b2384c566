import { describe, expect, it } from 'vitest'
import { multiply, rational, toNumber } from '../../../plugins/timelines/time/rational.js'
import { growUsed, sampleRangeOf, totalSamples } from '../../../plugins/timelines/used-ranges.js'
import type { SampleRange } from '../../../src/media/index.js'
import { mergeRanges } from '../../../src/pipeline/plan/segments.js'
import fc from '../../helpers/properties.js'

const SAMPLE_COUNT = 5_000

const anyRange = fc
  .tuple(fc.integer({ min: 0, max: SAMPLE_COUNT - 1 }), fc.integer({ min: 1, max: 800 }))
  .map(
    ([startSample, length]): SampleRange => ({ startSample, endSample: Math.min(SAMPLE_COUNT, startSample + length) }),
  )
const anyRanges = fc.array(anyRange, { maxLength: 12 })

/** Every sample that a range covers, one by one: what the code under test must not be. */
function covered(ranges: readonly SampleRange[]): Set<number> {
  const samples = new Set<number>()
  for (const { startSample, endSample } of ranges) for (let at = startSample; at < endSample; at++) samples.add(at)
  return samples
}

describe('used ranges', () => {
  it('are ordered, disjoint, within the file, and together exactly what is used', () => {
    fc.assert(
      fc.property(anyRanges, (ranges) => {
        const merged = mergeRanges(ranges)
        let last = -1
        for (const { startSample, endSample } of merged) {
          expect(startSample).toBeGreaterThan(last)
          expect(endSample).toBeGreaterThan(startSample)
          expect(endSample).toBeLessThanOrEqual(SAMPLE_COUNT)
          last = endSample
        }
        expect(covered(merged)).toEqual(covered(ranges))
        expect(totalSamples(merged)).toBe(covered(ranges).size)
      }),
    )
  })

  it('join where their handles would meet, and nowhere else', () => {
    fc.assert(
      fc.property(anyRanges, fc.integer({ min: 0, max: 300 }), (ranges, gap) => {
        const [merged, joined] = [mergeRanges(ranges), mergeRanges(ranges, gap)]
        const isIn = ({ startSample, endSample }: SampleRange) =>
          joined.some((range) => range.startSample <= startSample && endSample <= range.endSample)
        expect(merged.every(isIn)).toBe(true)
        for (const [index, range] of joined.entries()) {
          const next = joined[index + 1]
          if (next) expect(next.startSample - range.endSample).toBeGreaterThan(gap)
        }
        const holes = totalSamples(joined) - totalSamples(merged)
        expect(holes).toBeLessThanOrEqual(gap * (merged.length - joined.length))
      }),
    )
  })

  it('grow on either side, as far as the file reaches', () => {
    fc.assert(
      fc.property(anyRanges, fc.integer({ min: 0, max: 300 }), (ranges, by) => {
        const wanted = new Set<number>()
        for (const at of covered(ranges)) for (let near = at - by; near <= at + by; near++) wanted.add(near)
        const inside = [...wanted].filter((at) => at >= 0 && at < SAMPLE_COUNT)
        expect(covered(growUsed(ranges, by, SAMPLE_COUNT)).size).toBe(inside.length)
      }),
      { numRuns: 30 },
    )
  })

  it('begin and end in the samples in which their times lie, whatever the rate', () => {
    const rates = fc.constantFrom([24_000, 1001], [30_000, 1001], [60_000, 1001], [24, 1], [25, 1])
    fc.assert(
      fc.property(rates, fc.nat(2_000_000), fc.integer({ min: 1, max: 5_000 }), ([n = 1, d = 1], first, frames) => {
        const frame = rational(d, n)
        const range = { start: multiply(rational(first), frame), end: multiply(rational(first + frames), frame) }
        const laid = sampleRangeOf(range, { origin: rational(0), sampleRate: 48_000, sampleCount: null })
        const exact = (first * d * 48_000) / n
        expect(Math.abs((laid?.startSample ?? 0) - exact)).toBeLessThan(1)
        expect(laid?.startSample).toBeLessThanOrEqual(exact + 1e-6)
        expect(laid?.endSample).toBeGreaterThanOrEqual(toNumber(range.end) * 48_000 - 1e-3)
      }),
    )
  })
})
