import { describe, expect, test } from 'vitest'
import { bedSeconds } from '../../src/voice/bed/bed-seconds.js'
import { findBed } from '../../src/voice/bed/find-bed.js'
import { TONE_RATE } from '../../src/voice/bed/steady-tones.js'
import { createEmbeddedEngine } from '../../src/voice/embedded-engine.js'
import { decimate } from '../../src/voice/resample-by-factor.js'
import { evidenceSettings } from '../../src/voice/restore/evidence-settings.js'
import { makeNoise, mixAt, NOISE_KINDS } from '../bench/voice-quality/made-noise.js'
import { resample } from '../bench/voice-quality/resample.js'
import { NO_SPEECH, readSpeechPairs } from '../bench/voice-quality/speech-pairs.js'
import { inBuffers } from '../helpers/sound/float-buffers.js'
import { madeMusic } from '../helpers/sound/made-music.js'
import { noisySpeech } from '../helpers/sound/made-speech.js'

const RATE = 48_000
const LENGTH = 10 * RATE
const { clean, noisy } = noisySpeech(LENGTH, { noiseGain: 0.05, seed: 12 })
const tones = (value: (sec: number) => number) => clean.map((speech, i) => speech + value(i / RATE))
const low = (sound: Float32Array) => decimate(sound, RATE / TONE_RATE, 8)

describe('music under a voice', () => {
  test.each([
    ['chord', 6],
    ['chord', 12],
    ['chords', 6],
    ['chords', 12],
    ['pop', 6],
    ['pop', 12],
  ] as const)('is found: %s, %s dB under it', (kind, ratioDb) => {
    const bed = findBed(low(mixAt(ratioDb, clean, madeMusic(kind, LENGTH))))
    expect(Math.min(...bed)).toBe(1)
  })

  const noise = (kind: (typeof NOISE_KINDS)[number]) =>
    mixAt(5, clean, makeNoise(kind, LENGTH, { sampleRate: RATE, seed: 3, others: [clean] }))
  test.each<[string, Float32Array]>([
    ['clean speech', clean],
    ['speech in noise', noisy],
    ...NOISE_KINDS.map((kind): [string, Float32Array] => [`speech in ${kind}`, noise(kind)]),
    ['speech under a tone', tones((sec) => 0.05 * Math.sin(2765 * sec))],
    ['speech beside a machine', tones((sec) => 0.1 * (((sec * 120) % 1) - 0.5) * (1 + Math.sin(8 * sec)))],
    ['a chirp', tones((sec) => 0.4 * Math.sin(2 * Math.PI * (100 * sec + 200 * sec * sec)))],
    ['silence', new Float32Array(LENGTH)],
  ])('is not found in %s', (_, sound) => {
    expect(Math.max(...findBed(low(sound)))).toBe(0)
  })

  const recorded = 'is not found in recorded speech, with or without noise'
  test.skipIf(NO_SPEECH)(NO_SPEECH ? `${recorded} (skipped: ${NO_SPEECH})` : recorded, async () => {
    for (const { name, clean, noisy, sampleRate } of await readSpeechPairs()) {
      for (const sound of [clean, noisy]) {
        expect(Math.max(...findBed(resample(sound, sampleRate, TONE_RATE))), name).toBe(0)
      }
    }
  })

  test('is measured in seconds over the joints of blocks', async () => {
    const speech = low(clean)
    const music = low(mixAt(6, clean, madeMusic('chords', LENGTH)))
    const film = new Float32Array(70 * TONE_RATE)
    for (let at = 0; at < film.length; at += speech.length) {
      film.set(at >= 50 * TONE_RATE ? music : speech, at)
    }
    const sec = await bedSeconds(inBuffers(film, 100_003))
    expect(sec).toBeGreaterThan(17)
    expect(sec).toBeLessThan(23)
  })
})

test('the engine leaves a voice over music as it is, to the bit, where the models alone would pump the music', async () => {
  const engine = await createEmbeddedEngine(evidenceSettings.parse({}))
  const sound = mixAt(12, clean, madeMusic('chords', LENGTH)).slice(0, 4 * RATE)
  const block = { channels: [sound], innerStart: 0, innerEnd: sound.length }
  const { strength, bed } = await engine.judge(block)
  expect(Math.min(...strength)).toBeGreaterThan(0.9)
  expect(Math.min(...bed)).toBe(1)
  const { channels } = await engine.regenerate(block)
  expect(channels[0]).toEqual(sound)
})
