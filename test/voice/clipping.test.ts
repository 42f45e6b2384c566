import { describe, expect, test } from 'vitest'
import { createEmbeddedEngine } from '../../src/voice/embedded-engine.js'
import { findClipping } from '../../src/voice/restore/clipping.js'
import { evidenceSettings } from '../../src/voice/restore/evidence-settings.js'
import { restorePeaks } from '../../src/voice/restore/prepare-channel.js'
import { siSdr } from '../bench/voice-quality/si-sdr.js'
import { noisySpeech } from '../helpers/sound/made-speech.js'

const RATE = 48_000
const { clean, noisy } = noisySpeech(4 * RATE, { noiseGain: 0.03, seed: 3 })
const loudest = clean.reduce((peak, value) => Math.max(peak, Math.abs(value)), 0)
const speech = clean.map((value) => (0.8 * value) / loudest)
const rounded = (value: number) => Math.round(value * 32_768) / 32_768
const clipped = (level: number) => speech.map((value) => rounded(Math.max(-level, Math.min(level, value))))

describe('clipping', () => {
  test.each(process.env.VOXMUX_SOAK ? [0.6, 0.4, 0.2] : [0.4])(
    'at %f of 0.8 is restored by at least 6 dB, and no other sample changes',
    (level) => {
      const sound = clipped(level)
      const clipping = findClipping(sound)
      expect(clipping?.high).toBeCloseTo(level, 4)
      const restored = clipping ? restorePeaks(sound, clipping) : sound
      expect(siSdr(speech, restored)).toBeGreaterThan(siSdr(speech, sound) + 6)
      const isKept = sound.every((value, i) => Math.abs(value) > level - 1e-4 || value === restored[i])
      expect(isKept).toBe(true)
      const isInside = sound.some((value, i) => Math.abs(restored[i] ?? 0) < Math.abs(value))
      expect(isInside).toBe(false)
    },
  )

  const wave = (form: (turns: number) => number) => speech.map((_, i) => rounded(form((50 * i) / RATE)))
  test.each([
    ['clean speech', speech.map(rounded)],
    ['speech in noise', noisy.map(rounded)],
    ['a sine of 50 Hz', wave((turns) => 0.9 * Math.sin(2 * Math.PI * turns))],
    ['a square wave', wave((turns) => (turns % 1 < 0.5 ? 0.5 : -0.5))],
    ['a constant offset', wave(() => 0.02)],
    ['speech at -60 dBFS', speech.map((value) => rounded(value / 1000))],
    ['nothing', new Float32Array(0)],
  ])('is not found in %s', (_, sound) => {
    expect(findClipping(sound)).toBeUndefined()
  })
})

test('the engine restores peaks before the models process the voice', async () => {
  const engine = await createEmbeddedEngine(evidenceSettings.parse({}))
  const sound = clipped(0.3)
  const block = { channels: [sound], innerStart: 0, innerEnd: sound.length }
  const { channels } = await engine.regenerate(block)
  expect(siSdr(speech, channels[0] ?? sound)).toBeGreaterThan(siSdr(speech, sound) + 6)
  const { strength } = await engine.judge(block)
  expect(strength.some((value) => value === 1)).toBe(true)
})
