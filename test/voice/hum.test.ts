import { describe, expect, test } from 'vitest'
import { createEmbeddedEngine } from '../../src/voice/embedded-engine.js'
import { evidenceSettings } from '../../src/voice/restore/evidence-settings.js'
import { findHum } from '../../src/voice/restore/hum.js'
import { siSdr } from '../bench/voice-quality/si-sdr.js'
import { noisySpeech } from '../helpers/sound/made-speech.js'

const RATE = 48_000
const { clean } = noisySpeech(20 * RATE, { noiseGain: 0, seed: 12 })
const power = (samples: Float32Array) => samples.reduce((sum, value) => sum + value * value, 0) / samples.length

/** Mains with falling harmonics, whose frequency drifts by so many Hz over the sound. */
function mains(hz: number, level: number, driftHz = 0): Float32Array {
  const harmonics = [1, 2, 3, 4, 5, 6, 8, 10]
  return Float32Array.from({ length: clean.length }, (_, i) => {
    const sec = i / RATE
    const turns = hz * sec + (driftHz * sec * sec) / 40
    return level * harmonics.reduce((sum, k) => sum + Math.sin(2 * Math.PI * k * turns + k) / k, 0)
  })
}

describe('hum', () => {
  test.each([
    ['50 Hz', mains(50, 0.01)],
    ['50.13 Hz', mains(50.13, 0.01)],
    ['59.9 Hz', mains(59.9, 0.01)],
    ['50 Hz that drifts by 0.03 Hz', mains(49.97, 0.01, 0.03)],
    ['loud hum', mains(50.05, 0.1)],
  ])('of %s falls by at least 20 dB, and the voice stays', (_, noise) => {
    const sound = clean.map((value, i) => value + (noise[i] ?? 0))
    const hum = findHum(sound)
    const left = noise.map((value, i) => value - (hum?.samples[i] ?? 0))
    expect(10 * Math.log10(power(noise) / power(left))).toBeGreaterThan(20)
    const mended = sound.map((value, i) => value - (hum?.samples[i] ?? 0))
    expect(siSdr(clean, mended)).toBeGreaterThan(siSdr(clean, sound) + 19)
  })

  test.each([
    ['clean speech', clean],
    ['speech in noise', noisySpeech(20 * RATE, { noiseGain: 0.03, seed: 12 }).noisy],
    ['a single tone', clean.map((value, i) => value + 0.01 * Math.sin((2 * Math.PI * 200 * i) / RATE))],
    ['hum that cannot be heard', clean.map((value, i) => value + 3e-4 * Math.sin((2 * Math.PI * 50 * i) / RATE))],
    ['silence', new Float32Array(5 * RATE)],
    ['a second', clean.slice(0, RATE)],
  ])('is not found in %s', (_, sound) => {
    expect(findHum(sound)).toBeUndefined()
  })
})

test('the engine takes hum out by more than 20 dB before the models process the voice', async () => {
  const engine = await createEmbeddedEngine(evidenceSettings.parse({}))
  const length = 8 * RATE
  const noise = mains(50.05, 0.02)
  const sound = clean.slice(0, length).map((value, i) => value + (noise[i] ?? 0))
  const { channels } = await engine.regenerate({ channels: [sound], innerStart: 0, innerEnd: length })
  const [output = sound] = channels
  expect(siSdr(clean.slice(0, length), output)).toBeGreaterThan(siSdr(clean.slice(0, length), sound) + 20)
})
