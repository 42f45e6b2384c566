import { expect, test } from 'vitest'
import { strengthOf } from '../../src/voice/restore/evidence.js'
import { evidenceSettings } from '../../src/voice/restore/evidence-settings.js'
import { likenessOf } from '../../src/voice/restore/likeness.js'
import { randomSource } from '../helpers/sound/made-speech.js'

const HOP_SEC = 0.01
const settings = evidenceSettings.parse({})
const frames = (seconds: number, power: (sec: number) => number) =>
  Float64Array.from({ length: seconds / HOP_SEC }, (_, i) => power(i * HOP_SEC))
const strength = (kept: (sec: number) => number, removed: (sec: number) => number) =>
  strengthOf({ kept: frames(20, kept), removed: frames(20, removed) }, HOP_SEC, settings)
const syllables = (sec: number) => (sec % 1 < 0.7 ? 0.01 : 0)

test('silence and clean speech are left alone, noise is mended at full strength', () => {
  expect(
    strength(
      () => 0,
      () => 0,
    ).every((value) => value === 0),
  ).toBe(true)
  expect(strength(syllables, () => 1e-6).every((value) => value === 0)).toBe(true)
  expect(strength(syllables, () => 1e-3).every((value) => value === 1)).toBe(true)
  // No voice at all, and noise: that is noise.
  expect(
    strength(
      () => 0,
      () => 1e-4,
    ).every((value) => value === 1),
  ).toBe(true)
})

test('noise that pauses for silence is mended, and an onset of noise from its first moment on', () => {
  const paused = strength(syllables, (sec) => (sec % 2 < 0.5 ? 1e-3 : 0))
  expect(paused.every((value) => value === 1)).toBe(true)
  const onset = strength(syllables, (sec) => (sec >= 10 ? 1e-3 : 0))
  expect(onset.subarray(0, 700).every((value) => value === 0)).toBe(true)
  expect(onset.subarray(990).every((value) => value === 1)).toBe(true)
  // It comes and goes within a fade: no step over a hundredth of a second.
  expect(Math.max(...onset.subarray(1).map((value, i) => Math.abs(value - (onset[i] ?? 0))))).toBeLessThan(0.05)
})

test('channels of one recording share a gain, two microphones do not', () => {
  const random = randomSource(3)
  const [one, other] = [0, 1].map(() => Float32Array.from({ length: 48_000 }, random))
  const quiet = one?.map((value) => -0.2 * value)
  const likeness = (channels: readonly (Float32Array | undefined)[]) =>
    likenessOf(
      channels.map((channel) => channel ?? new Float32Array(0)),
      94,
      512,
      512 / 48_000,
    )
  for (const values of likeness([one, quiet])) expect(values.every((value) => value === 1)).toBe(true)
  for (const values of likeness([one, other])) expect(values.every((value) => value === 0)).toBe(true)
  for (const values of likeness([one, new Float32Array(48_000)]))
    expect(values.every((value) => value === 1)).toBe(true)
})
