import { describe, expect, test } from 'vitest'
import { compareFaults } from '../../src/voice/compare-faults.js'
import { createEmbeddedEngine } from '../../src/voice/embedded-engine.js'
import { decimate } from '../../src/voice/resample-by-factor.js'
import { evidenceSettings } from '../../src/voice/restore/evidence-settings.js'
import { roomStrength } from '../../src/voice/restore/restore-block.js'
import { findReverberation, REVERBERATION_RATE } from '../../src/voice/reverberation/find-reverberation.js'
import { predictReverberation } from '../../src/voice/reverberation/late-reverberation.js'
import { inRoom } from '../bench/voice-quality/made-rooms.js'
import { siSdr } from '../bench/voice-quality/si-sdr.js'
import { noisySpeech, randomSource } from '../helpers/sound/made-speech.js'

const RATE = 48_000
const { clean, noisy } = noisySpeech(7 * RATE, { noiseGain: 0.05, seed: 12 })
const low = decimate(clean, RATE / REVERBERATION_RATE)
const syllables = low.map(randomSource(8)).map((value, i) => 0.1 * value * Math.max(0, Math.sin(i / 1000)) ** 2)
const echoing = betweenWalls(syllables, 0.4)

/** A sound between two bare walls, at 16 kHz: it comes back every 40 ms, and falls by 60 dB in so many seconds. */
function betweenWalls(sound: Float32Array, t60Sec: number): Float32Array<ArrayBuffer> {
  const walls = Float32Array.from(sound)
  for (let i = 640; i < walls.length; i++) {
    walls[i] = (walls[i] ?? 0) + 10 ** ((-3 * 0.04) / t60Sec) * (walls[i - 640] ?? 0)
  }
  return walls
}

/** A sawtooth of 120 Hz whose level follows a slow sine. */
function buzz(sec: number): number {
  return 0.3 * (((sec * 120) % 1) - 0.5) * (0.5 + 0.5 * Math.sin(2 * Math.PI * 1.3 * sec))
}

test('the prediction finds a filter that repeats a sound', () => {
  const random = randomSource(3)
  const dry = Float64Array.from({ length: 1200 }, (_, i) => random() * (i % 90 < 30 ? 1 : 0.01))
  const bin = dry.slice()
  for (let i = 8; i < bin.length; i += 2) {
    // Each frame repeats the one before the last three, turned by a quarter.
    bin[i] = (dry[i] ?? 0) - 0.6 * (bin[i - 7] ?? 0)
    bin[i + 1] = (dry[i + 1] ?? 0) + 0.6 * (bin[i - 8] ?? 0)
  }
  const late = predictReverberation(bin, { delay: 3, taps: 6, passes: 3 })
  const error = dry.reduce((sum, value, i) => sum + ((bin[i] ?? 0) - (late[i] ?? 0) - value) ** 2, 0)
  expect(error / dry.reduce((sum, value) => sum + value ** 2, 0)).toBeLessThan(0.02)
})

describe('reverberation', () => {
  test.each(process.env.VOXMUX_SOAK ? [0.3, 0.4, 0.5] : [0.4])('of %s s is taken out', (t60Sec) => {
    const wet = betweenWalls(syllables, t60Sec)
    const change = findReverberation(wet, 0)
    const dried = wet.map((value, i) => value + (change?.[i] ?? 0))
    expect(siSdr(syllables, dried)).toBeGreaterThan(siSdr(syllables, wet) + 6)
  })

  const chord = low.map((_, i) => {
    const tones = [220, 277.2, 329.6, 440, 660, 880, 1320, 1760, 2640]
    return 0.02 * tones.reduce((sum, hz) => sum + Math.sin((2 * Math.PI * hz * i) / REVERBERATION_RATE), 0)
  })
  test.each([
    ['dry speech', low],
    ['dry syllables of noise', syllables],
    ['dry speech in noise', decimate(noisy, RATE / REVERBERATION_RATE)],
    ['noise', low.map(randomSource(5))],
    ['music', chord],
    ['a buzz that swells and fades', low.map((_, i) => buzz(i / REVERBERATION_RATE))],
    ['dry speech over music', low.map((value, i) => value + 0.2 * (chord[i] ?? 0))],
    ['silence', new Float32Array(low.length)],
    ['a second', echoing.slice(0, REVERBERATION_RATE)],
  ])('is not found in %s', (_, sound) => {
    expect(findReverberation(sound, 0)).toBeUndefined()
  })

  test('is found alike on both sides of a joint of blocks', () => {
    const step = 3 * REVERBERATION_RATE
    const long = new Float32Array(2 * echoing.length)
    long.set(echoing)
    long.set(echoing, echoing.length)
    const before = findReverberation(long.slice(0, 4 * step), 0)
    const after = findReverberation(long.slice(2 * step), 0)
    const [left, right] = [before?.[3 * step] ?? 0, after?.[step] ?? 0]
    expect(left).not.toBe(0)
    expect(right).toBeCloseTo(left, 6)
  })
})

test('the engine takes reverberation out, leaves a dry voice to the bit, and both can be measured', async () => {
  const engine = await createEmbeddedEngine(evidenceSettings.parse({}))
  const through = async (sound: Float32Array<ArrayBuffer>) => {
    const { channels } = await engine.regenerate({ channels: [sound], innerStart: 0, innerEnd: sound.length })
    return channels[0] ?? sound
  }
  const dry = clean.slice(0, 4 * RATE)
  const wet = inRoom(dry, { t60Sec: 0.5, sampleRate: RATE, seed: 4 })
  const { reverberation } = compareFaults(wet, await through(wet), RATE)
  expect(reverberation?.levelLeftDb).toBeLessThan((reverberation?.levelDb ?? 0) - 2)
  expect(compareFaults(dry, dry, RATE).reverberation).toBeNull()
  expect(await through(dry)).toEqual(dry)
})

test('reverberation is worth paying for only if it is loud, as it is far from the microphone', async () => {
  const scaled = (db: number) => clean.map((value) => value * 10 ** (db / 20))
  expect(Math.max(...roomStrength(clean, scaled(-15)))).toBeLessThan(0.1)
  expect(Math.max(...roomStrength(clean, scaled(-7)))).toBe(1)

  const engine = await createEmbeddedEngine(evidenceSettings.parse({}))
  const dry = clean.slice(0, 5 * RATE)
  const room = inRoom(dry, { t60Sec: 0.4, sampleRate: RATE, seed: 4 })
  const close = dry.map((value, i) => value + 0.15 * ((room[i] ?? 0) - value))
  const block = { channels: [close], innerStart: 0, innerEnd: close.length }
  expect((await engine.regenerate(block)).channels[0]).not.toEqual(close)
  expect(Math.max(...(await engine.judge(block)).strength)).toBeLessThan(0.1)
})
