import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { Gtcrn } from '../../src/voice/gtcrn.js'
import { decimate, interpolate } from '../../src/voice/resample-by-factor.js'
import { siSdr } from '../bench/voice-quality/si-sdr.js'
import { noisySpeech, randomSource } from '../helpers/sound/made-speech.js'

const { clean, noisy } = noisySpeech(48_000 + 31, { noiseGain: 0.1, seed: 5 })

test('GTCRN takes noise out, in place and as long as the input, from a fresh state each time', async () => {
  const model = await Gtcrn.load()
  const input = decimate(noisy, 3)
  const voice = model.run(input)
  expect(voice).toHaveLength(input.length)
  expect(Buffer.from(model.run(input).buffer).equals(Buffer.from(voice.buffer))).toBe(true)
  expect(siSdr(decimate(clean, 3), voice)).toBeGreaterThan(siSdr(decimate(clean, 3), input) + 2)
  expect(model.run(new Float32Array(0))).toHaveLength(0)
})

test('GTCRN gives what its pinned build gave, to the bit, on every machine and version of Node', async () => {
  // No function of Math is asked: they may differ in the last bit. WebAssembly does not.
  const random = randomSource(12)
  const input = Float32Array.from({ length: 16_000 }, (_, i) =>
    i % 130 < 4 && i % 5000 < 3000 ? 0.4 : 0.05 * random(),
  )
  const voice = (await Gtcrn.load()).run(input)
  expect(createHash('sha256').update(voice).digest('hex').slice(0, 16)).toBe('7fb8fe77d7220a3d')
})

test('a change of rate and back keeps length and place', () => {
  const back = interpolate(decimate(clean, 3), 3, clean.length)
  expect(back).toHaveLength(clean.length)
  expect(siSdr(clean, back)).toBeGreaterThan(20)
})
