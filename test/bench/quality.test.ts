import { afterAll, describe, expect, test } from 'vitest'
import { VOICE_SAMPLE_RATE, VoicePool } from '../../src/voice/index.js'
import { noisySpeech, randomSource } from '../helpers/made-speech.js'
import { judgeVoice, meanOf } from './judge-voice.js'
import { resample } from './resample.js'
import { siSdr } from './si-sdr.js'
import { NO_SPEECH, readSpeechPairs } from './speech-pairs.js'
import { stoi } from './stoi.js'

const pool = new VoicePool()
afterAll(() => pool.close())

if (NO_SPEECH) process.stderr.write(`The voice engine's quality is not judged: ${NO_SPEECH}.\n`)

describe('the voice engine', () => {
  test.skipIf(NO_SPEECH)(
    'mends recorded speech in noise, and leaves clean speech alone',
    async () => {
      const pairs = await readSpeechPairs()
      const scores = await Promise.all(pairs.map((pair) => judgeVoice(pair, pool)))
      expect(meanOf(scores, 'siSdr')).toBeGreaterThan(meanOf(scores, 'noisySiSdr') + 4)
      expect(meanOf(scores, 'stoi')).toBeGreaterThanOrEqual(meanOf(scores, 'noisyStoi'))
      expect(meanOf(scores, 'cleanSiSdr')).toBeGreaterThanOrEqual(25)
    },
    240_000,
  )

  test('mends made speech as well', async () => {
    const { clean, noisy } = noisySpeech(5 * VOICE_SAMPLE_RATE, { noiseGain: 0.1, seed: 21 })
    const score = await judgeVoice({ name: 'made', sampleRate: VOICE_SAMPLE_RATE, clean, noisy }, pool)
    expect(score.siSdr).toBeGreaterThan(score.noisySiSdr + 4)
  })
})

describe('the measures', () => {
  const random = randomSource(4)
  const { clean } = noisySpeech(3 * VOICE_SAMPLE_RATE, { noiseGain: 0, seed: 2 })
  const noise = clean.map(() => random())
  const withNoise = (gain: number) => clean.map((value, i) => value + gain * (noise[i] ?? 0))

  test('SI-SDR is the ratio of powers, however loud', () => {
    const power = (samples: Float32Array) => samples.reduce((sum, value) => sum + value * value, 0)
    const wanted = 10 * Math.log10(power(clean) / (power(noise) * 0.01))
    expect(siSdr(clean, withNoise(0.1))).toBeCloseTo(wanted, 0)
    expect(
      siSdr(
        clean,
        withNoise(0.1).map((value) => 3 * value + 0.1),
      ),
    ).toBeCloseTo(siSdr(clean, withNoise(0.1)), 1)
    expect(siSdr(clean, clean)).toBeGreaterThan(100)
  })

  test('STOI is 1 for the reference and falls with noise', () => {
    expect(stoi(clean, clean, VOICE_SAMPLE_RATE)).toBeCloseTo(1, 6)
    const some = stoi(clean, withNoise(0.1), VOICE_SAMPLE_RATE)
    const more = stoi(clean, withNoise(1), VOICE_SAMPLE_RATE)
    expect(some).toBeLessThan(1)
    expect(more).toBeLessThan(some)
    expect(stoi(clean, noise, VOICE_SAMPLE_RATE)).toBeLessThan(0.4)
  })

  test('resampling keeps the place of every sample', () => {
    const there = resample(clean, VOICE_SAMPLE_RATE, 16_000)
    expect(
      siSdr(there, resample(resample(there, 16_000, VOICE_SAMPLE_RATE), VOICE_SAMPLE_RATE, 16_000)),
    ).toBeGreaterThan(30)
  })
})
