import { expect, test } from 'vitest'
import { decimate, interpolate } from '../../src/voice/resample-by-factor.js'
import { randomSource } from '../helpers/sound/made-speech.js'

const random = randomSource(7)
const sound = Float32Array.from({ length: 1000 }, random)

test.each([1, 2, 3, 4, 5, 13, 997])('%s samples are resampled as the same samples before silence are', (length) => {
  const short = sound.slice(0, length)
  const padded = new Float32Array(1200)
  padded.set(short)
  for (const factor of [2, 3, 6]) {
    const low = decimate(short, factor)
    expect(low).toEqual(decimate(padded, factor).slice(0, Math.ceil(length / factor)))
    expect(interpolate(low, factor, length)).toEqual(
      interpolate(decimate(short, factor), factor, 1200).slice(0, length),
    )
  }
})

test('a sound below the lower band comes back, in place to the sample', () => {
  const tone = Float32Array.from({ length: 997 }, (_, i) => Math.sin((2 * Math.PI * 1000 * i) / 48_000))
  const back = interpolate(decimate(tone, 3), 3, tone.length)
  // The ends lack neighbours.
  for (let i = 100; i < 900; i++) expect(Math.abs((back[i] ?? 0) - (tone[i] ?? 0))).toBeLessThan(1e-3)
})
