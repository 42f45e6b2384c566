import { afterAll, describe, expect, test } from 'vitest'
import { SAMPLE_RATE } from '../../src/voice/block-plan.js'
import { VoicePool, VoiceTally } from '../../src/voice/index.js'
import { siSdr } from '../bench/voice-quality/si-sdr.js'
import { channelOf, interleaved } from '../helpers/sound/float-buffers.js'
import { noisySpeech } from '../helpers/sound/made-speech.js'
import { regenerated } from '../helpers/sound/regenerated.js'

const pool = new VoicePool({ workers: 1 })
afterAll(() => pool.close())

function run(
  samples: Float32Array,
  { channelCount = 1, bufferBytes = 100_003, on = pool } = {},
): Promise<Float32Array> {
  return regenerated(samples, { channelCount, bufferBytes, pool: on })
}

/** A pool whose blocks are so long. */
function inBlocks(blockSec: number, workers: number): VoicePool {
  const made = new VoicePool({ workers })
  return Object.assign(made, { plan: { ...made.plan, blockSamples: Math.round(blockSec * SAMPLE_RATE) } })
}

/** Bytes, because a difference of millions of samples must not be printed. */
const same = (a: Float32Array, b: Float32Array) => Buffer.from(a.buffer).equals(Buffer.from(b.buffer))

const SECONDS = process.env.VOXMUX_SOAK ? 5 : 3

describe('regenerate', () => {
  const { noisy, clean } = noisySpeech(SECONDS * SAMPLE_RATE + 137, { noiseGain: 0.1, seed: 1 })

  let made: Promise<Float32Array> | undefined
  /** What becomes of it, which several tests judge. */
  const whole = () => {
    made ??= run(noisy)
    return made
  }

  test('keeps length and place, and takes noise out', async () => {
    const output = await whole()
    expect(output.length).toBe(noisy.length)
    expect(siSdr(clean, output)).toBeGreaterThan(siSdr(clean, noisy) + 2)
  })

  test('tells its progress within a block, and in the end the whole length', async () => {
    const toldSec: number[] = []
    const stereo = interleaved([noisy, noisy.map((value) => value * 0.5)])
    const onProgressSec = (sec: number) => void toldSec.push(sec)
    await regenerated(stereo, { channelCount: 2, pool, onProgressSec })
    expect(toldSec).toEqual([...toldSec].sort((a, b) => a - b))
    expect(toldSec.at(-1)).toBe(noisy.length / SAMPLE_RATE)
    expect(new Set(toldSec).size).toBeGreaterThan(2 * SECONDS)
  })

  test.each([0, 1, 479, 480, 961])('keeps the length of %i samples', async (count) => {
    expect((await run(noisy.slice(0, count))).length).toBe(count)
  })

  test('gives the same however the bytes arrive', async () => {
    const short = noisy.slice(0, SAMPLE_RATE)
    expect(same(await run(short, { bufferBytes: 7 }), await run(short, { bufferBytes: 1 << 20 }))).toBe(true)
  })

  test('keeps the stereo image: one gain for both channels', async () => {
    const quiet = noisy.map((value) => value * 0.25)
    const output = await run(interleaved([noisy, quiet]), { channelCount: 2 })
    const left = channelOf(output, 0, 2)
    const right = channelOf(output, 1, 2)
    expect(siSdr(left, right)).toBeGreaterThan(100)
    expect(left.reduce((worst, value, i) => Math.max(worst, Math.abs(value / 4 - (right[i] ?? 0))), 0)).toBeLessThan(
      1e-5,
    )
  })

  test('leaves a clean microphone alone beside a noisy one', async () => {
    const { clean: other, noisy: loud } = noisySpeech(clean.length + 4800, { noiseGain: 0.1, seed: 7 })
    const late = loud.slice(4800)
    const output = await run(interleaved([clean, late]), { channelCount: 2 })
    expect(siSdr(clean, channelOf(output, 0, 2))).toBeGreaterThan(40)
    expect(siSdr(other.slice(4800), channelOf(output, 1, 2))).toBeGreaterThan(siSdr(other.slice(4800), late) + 2)
  })

  test('takes a constant offset for no noise, and limits no peak of sound above full scale', async () => {
    const offset = await run(clean.map((value) => value + 0.02))
    expect(siSdr(clean, offset)).toBeGreaterThan(40)
    const loudest = noisy.reduce((peak, value) => Math.max(peak, Math.abs(value)), 0)
    const [plain, loud] = [await whole(), await run(noisy.map((value) => (value * 2) / loudest))]
    expect(siSdr(plain, loud)).toBeGreaterThan(40)
  })

  test('never clips what did not clip before', async () => {
    const loudest = noisy.reduce((peak, value) => Math.max(peak, Math.abs(value)), 0)
    const output = await run(noisy.map((value) => value / loudest))
    expect(output.reduce((peak, value) => Math.max(peak, Math.abs(value)), 0)).toBeLessThanOrEqual(1)
  })

  test('keeps the loudness of the voice', async () => {
    const output = await whole()
    const scale =
      output.reduce((sum, value, i) => sum + value * (clean[i] ?? 0), 0) /
      clean.reduce((sum, value) => sum + value * value, 0)
    expect(Math.abs(20 * Math.log10(scale))).toBeLessThan(1)
  })

  test('tells how much voice it heard', async () => {
    const tally = new VoiceTally()
    await regenerated(noisy, { pool, tally })
    expect(tally.amount.durationSec).toBeCloseTo(SECONDS + 0.01, 2)
    expect(tally.amount.voicedSec).toBeGreaterThan(SECONDS / 5)
  })
})

test('one worker and several give the same, bit for bit, over several blocks', async () => {
  // Blocks of a minute, as the service cuts them, in the soak. Those of 3.2 s have a context that reaches over the first.
  const blockSec = process.env.VOXMUX_SOAK ? 60 : 3.2
  const { noisy } = noisySpeech(Math.round((blockSec + 1.5) * SAMPLE_RATE), { noiseGain: 0.05, seed: 3 })
  await using one = inBlocks(blockSec, 1)
  await using several = inBlocks(blockSec, 3)
  const [alone, together] = await Promise.all([run(noisy, { on: one }), run(noisy, { on: several })])
  expect(alone.length).toBe(noisy.length)
  expect(same(alone, together)).toBe(true)
}, 240_000)
