import { expect, test } from 'vitest'
import { SAMPLE_RATE } from '../../src/voice/block-plan.js'
import { VoicePool } from '../../src/voice/index.js'
import { findRumble } from '../../src/voice/restore/rumble.js'
import { noisySpeech } from '../helpers/sound/made-speech.js'
import { regenerated } from '../helpers/sound/regenerated.js'

const RUMBLE_HZ = 25
const { clean } = noisySpeech(6 * SAMPLE_RATE, { noiseGain: 0, seed: 2 })
const speechPower = clean.reduce((sum, value) => sum + value * value, 0) / clean.length

/** The made speech over a tone below every voice, in dB relative to the speech. */
function rumbling(db: number): Float32Array {
  const amplitude = Math.sqrt(2 * speechPower * 10 ** (db / 10))
  return clean.map((value, i) => value + amplitude * Math.sin((2 * Math.PI * RUMBLE_HZ * i) / SAMPLE_RATE))
}

/** Amplitude of the rumble over whole periods, the edges left out. */
function rumbleOf(samples: Float32Array): number {
  let re = 0
  let im = 0
  for (let i = SAMPLE_RATE; i < 5 * SAMPLE_RATE; i++) {
    re += (samples[i] ?? 0) * Math.cos((2 * Math.PI * RUMBLE_HZ * i) / SAMPLE_RATE)
    im += (samples[i] ?? 0) * Math.sin((2 * Math.PI * RUMBLE_HZ * i) / SAMPLE_RATE)
  }
  return Math.hypot(re, im)
}

test('loud rumble under clean speech is taken out, quiet rumble stays to the bit', async () => {
  await using pool = new VoicePool({ workers: 1 })
  const through = (samples: Float32Array) => regenerated(samples, { pool })
  const loud = rumbling(-6)
  expect(20 * Math.log10(rumbleOf(await through(loud)) / rumbleOf(loud))).toBeLessThan(-15)
  const quiet = rumbling(-25)
  expect(Buffer.from((await through(quiet)).buffer).equals(Buffer.from(quiet.buffer))).toBe(true)
})

test('a constant offset is no rumble', () => {
  const { change, strength } = findRumble(clean.map((value) => value + 0.3))
  expect(strength.every((value) => value === 0)).toBe(true)
  expect(change.reduce((most, value) => Math.max(most, Math.abs(value)), 0)).toBeLessThan(0.1)
})
