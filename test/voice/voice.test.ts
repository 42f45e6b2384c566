import { afterAll, describe, expect, test } from 'vitest'
import { SAMPLE_RATE } from '../../src/voice/block-plan.js'
import { regenerate, VoicePool } from '../../src/voice/index.js'
import { siSdr } from '../bench/si-sdr.js'
import { noisySpeech } from '../helpers/made-speech.js'
import { floatsOf, inChunks } from '../helpers/pcm-chunks.js'

const pool = new VoicePool({ workers: 1 })
afterAll(() => pool.close())

async function run(samples: Float32Array, channelCount = 1, onePool = pool): Promise<Float32Array> {
  const input = { channelCount, chunks: inChunks(samples, 100_003) }
  return floatsOf(regenerate(input, { pool: onePool }))
}

describe('regenerate', () => {
  const { noisy, clean } = noisySpeech(5 * SAMPLE_RATE + 137, { noiseGain: 0.05, seed: 1 })

  test('keeps length and place, and takes noise out', async () => {
    const output = await run(noisy)
    expect(output.length).toBe(noisy.length)
    expect(siSdr(clean, output)).toBeGreaterThan(siSdr(clean, noisy) + 2)
  })
})
