import { expect, test } from 'vitest'
import { frameFft } from '../../src/voice/any-size-fft.js'
import { randomSource } from '../helpers/sound/made-speech.js'

test.each([2, 6, 64, 320, 960])('a frame of %i samples is transformed as the definition says, and back', (size) => {
  const random = randomSource(size)
  const frame = Float64Array.from({ length: size }, random)
  const fft = frameFft(size)
  const spectrum = fft.forward(frame)
  for (const bin of [0, 1, Math.floor(size / 3), size / 2]) {
    const angle = (n: number) => (-2 * Math.PI * ((bin * n) % size)) / size
    const re = frame.reduce((sum, value, n) => sum + value * Math.cos(angle(n)), 0)
    const im = frame.reduce((sum, value, n) => sum + value * Math.sin(angle(n)), 0)
    expect(spectrum[2 * bin]).toBeCloseTo(re, 8)
    expect(spectrum[2 * bin + 1]).toBeCloseTo(im, 8)
  }
  spectrum.fill(0, size + 2)
  for (const [i, value] of fft.inverse(spectrum).entries()) expect(value).toBeCloseTo(frame[i] ?? 0, 10)
})
