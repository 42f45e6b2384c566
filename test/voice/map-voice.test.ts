import { afterAll, describe, expect, test } from 'vitest'
import { SAMPLE_RATE } from '../../src/voice/block-plan.js'
import { mapVoice, VoicePool } from '../../src/voice/index.js'
import { inBuffers } from '../helpers/sound/float-buffers.js'
import { noisySpeech } from '../helpers/sound/made-speech.js'

const pool = new VoicePool({ workers: 1 })
afterAll(() => pool.close())

describe('a map of voice and noise', () => {
  const { clean, noisy } = noisySpeech(15 * SAMPLE_RATE + 1000, { noiseGain: 0.1, seed: 9 })
  const map = (samples: Float32Array) => mapVoice({ channelCount: 1, buffers: inBuffers(samples, 100_003) }, { pool })

  test('finds noise where it is, and none in clean speech', async () => {
    const sound = Float32Array.from(clean, (value, i) => (i < 5 * SAMPLE_RATE ? (noisy[i] ?? 0) : value))
    const { voice, noise } = await map(sound)
    expect(noise).toHaveLength(16)
    expect(Math.min(...noise.slice(0, 5))).toBeGreaterThan(0.9)
    expect(Math.max(...noise.slice(8))).toBe(0)
    expect(voice.some((probability) => probability > 0.5)).toBe(true)
    expect(voice.every((probability) => probability >= 0 && probability <= 1)).toBe(true)
  })

  test('finds neither in silence', async () => {
    expect(await map(new Float32Array(2 * SAMPLE_RATE))).toEqual({
      voicedSec: 0,
      voice: [0, 0],
      noise: [0, 0],
      music: [0, 0],
    })
  })
})
