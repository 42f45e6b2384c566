import { expect, it } from 'vitest'
import { correlate, nearestWaveformPeak } from '../../../src/media/pcm/correlate.js'

it.each([0.16, 0.19, 0.21])('takes no rounding error for a match if a wave of %d ends in almost silence', (peak) => {
  const wave = Float64Array.from({ length: 4800 }, (_, at) => -peak * Math.cos((Math.PI * at) / 4800))
  const signal = new Float64Array(24_000)
  signal.set(wave, 9600)
  for (let at = 14_400; at < 19_200; at++) signal[at] = at % 2 === 0 || peak < 0.2 ? 2 ** -24 : 0
  const correlation = correlate(wave, signal, 9600)
  expect(nearestWaveformPeak(correlation, 0).lag).toBe(0)
  for (const value of correlation.values) expect(Math.abs(value)).toBeLessThan(1.000_001)
})
