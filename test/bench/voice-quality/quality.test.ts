import { afterAll, describe, expect, test } from 'vitest'
import { VOICE_SAMPLE_RATE, VoicePool } from '../../../src/voice/index.js'
import { findReverberation, REVERBERATION_RATE } from '../../../src/voice/reverberation/find-reverberation.js'
import { noisySpeech, randomSource } from '../../helpers/sound/made-speech.js'
import { regenerated } from '../../helpers/sound/regenerated.js'
import { judgePeaks } from './judge-peaks.js'
import { judgeVoice, meanOf } from './judge-voice.js'
import { makeNoise, mixAt, NOISE_KINDS } from './made-noise.js'
import { inRoom } from './made-rooms.js'
import { resample } from './resample.js'
import { siSdr } from './si-sdr.js'
import { NO_SPEECH, readSpeechPairs } from './speech-pairs.js'
import { srmr } from './srmr.js'
import { stoi } from './stoi.js'

/** The other kinds and recordings are heard in the soak. */
const KINDS = NOISE_KINDS.filter((kind) => process.env.VOXMUX_SOAK || kind === 'babble')
const RECORDINGS = process.env.VOXMUX_SOAK ? Number.POSITIVE_INFINITY : 2

const pool = new VoicePool()
afterAll(() => pool.close())

describe(`the voice engine${NO_SPEECH ? ` (without recorded speech: ${NO_SPEECH})` : ''}`, () => {
  test.skipIf(NO_SPEECH)(
    'mends recorded speech in noise, and leaves clean speech alone',
    async () => {
      const pairs = (await readSpeechPairs()).slice(0, RECORDINGS)
      const scores = await Promise.all(pairs.map((pair) => judgeVoice(pair, pool)))
      expect(meanOf(scores, 'siSdr')).toBeGreaterThan(meanOf(scores, 'noisySiSdr') + 4)
      expect(meanOf(scores, 'stoi')).toBeGreaterThanOrEqual(meanOf(scores, 'noisyStoi'))
      for (const { name, cleanSiSdr, stoi, noisyStoi } of scores) {
        expect.soft(cleanSiSdr, name).toBeGreaterThanOrEqual(25)
        expect.soft(stoi - noisyStoi, name).toBeGreaterThan(-0.01)
      }
    },
    240_000,
  )

  test.skipIf(NO_SPEECH).each(KINDS)(
    'mends speech in %s of 5 dB, and takes nothing from its intelligibility',
    async (kind) => {
      const [pair, ...rest] = (await readSpeechPairs()).filter(({ sampleRate }) => sampleRate === 16_000)
      if (!pair) throw new Error('There is no speech at 16 kHz.')
      const { clean, sampleRate } = pair
      const others = rest.map((other) => other.clean)
      const noisy = mixAt(5, clean, makeNoise(kind, clean.length, { sampleRate, seed: 3, others }))
      const score = await judgeVoice({ ...pair, noisy }, pool)
      expect(score.siSdr).toBeGreaterThan(score.noisySiSdr + 1)
      expect(score.stoi).toBeGreaterThan(score.noisyStoi - 0.005)
    },
    120_000,
  )

  test.skipIf(NO_SPEECH)(
    'gives recorded speech at least 6 dB back if 25 % of it was clipped',
    async () => {
      const sounds = (await readSpeechPairs())
        .filter(({ sampleRate }) => sampleRate === VOICE_SAMPLE_RATE)
        // Half of them: no other test takes as long for a recording.
        .slice(0, RECORDINGS / 2)
      const scores = sounds.map(({ clean }) => judgePeaks(clean, 0.25))
      expect(meanOf(scores, 'after')).toBeGreaterThan(meanOf(scores, 'before') + 6)
      for (const { before, after } of scores) expect.soft(after - before).toBeGreaterThan(5)
    },
    240_000,
  )

  test.skipIf(NO_SPEECH)('takes reverberation of 0.5 s from recorded speech, and leaves dry speech', async () => {
    const [pair] = (await readSpeechPairs()).filter(({ sampleRate }) => sampleRate === REVERBERATION_RATE)
    if (!pair) throw new Error('There is no speech at 16 kHz.')
    const { clean, sampleRate } = pair
    const wet = inRoom(clean, { t60Sec: 0.5, sampleRate, seed: 5 })
    const change = findReverberation(wet, 0)
    const dried = wet.map((value, i) => value + (change?.[i] ?? 0))
    expect(stoi(clean, dried, sampleRate)).toBeGreaterThan(stoi(clean, wet, sampleRate) + 0.03)
    expect(siSdr(clean, dried)).toBeGreaterThan(siSdr(clean, wet) + 0.8)
    expect(srmr(dried, sampleRate)).toBeGreaterThan(srmr(wet, sampleRate))
    expect(findReverberation(clean, 0)).toBeUndefined()
  })

  test('mends made speech at -40 and -60 dBFS as well as loud', async () => {
    const { clean, noisy } = noisySpeech(4 * VOICE_SAMPLE_RATE, { noiseGain: 0.1, seed: 22 })
    const power = noisy.reduce((sum, value) => sum + value * value, 0) / noisy.length
    const scores = await Promise.all(
      [-20, -40, -60].map(async (dbfs) => {
        const gain = 10 ** (dbfs / 20) / Math.sqrt(power)
        const input = noisy.map((value) => value * gain)
        const output = await regenerated(input, { pool })
        return siSdr(clean, output) - siSdr(clean, input)
      }),
    )
    const [loud = 0, ...quiet] = scores
    expect(loud).toBeGreaterThan(4)
    for (const gain of quiet) expect(Math.abs(gain - loud)).toBeLessThan(1)
  }, 120_000)
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
