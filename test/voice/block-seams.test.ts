import { expect, test } from 'vitest'
import { type BlockPlan, cutBlocks, SAMPLE_RATE } from '../../src/voice/block-plan.js'
import { createEmbeddedEngine, EMBEDDED_PLAN } from '../../src/voice/embedded-engine.js'
import { evidenceSettings } from '../../src/voice/restore/evidence-settings.js'
import { HOP_SAMPLES } from '../../src/voice/restore/spectral-change.js'
import { inBuffers } from '../helpers/sound/float-buffers.js'
import { noisySpeech } from '../helpers/sound/made-speech.js'

async function throughBlocks(samples: Float32Array, plan: BlockPlan): Promise<Float32Array> {
  const engine = await createEmbeddedEngine(evidenceSettings.parse({}))
  const output = new Float32Array(samples.length)
  let at = 0
  for await (const block of cutBlocks(inBuffers(samples, 65_536), 1, plan)) {
    const { channels } = await engine.regenerate(block)
    output.set(channels[0] ?? [], at)
    at += channels[0]?.length ?? 0
  }
  expect(at).toBe(samples.length)
  return output
}

test('blocks join without a seam: under -40 dB against one unbroken pass, everywhere', async () => {
  // The second seam is the first whose context does not reach back to the start; shorter blocks have it in the soak alone.
  const [blockSec, seams] = process.env.VOXMUX_SOAK ? [9.6, 2] : [6.4, 1]
  const { noisy } = noisySpeech(Math.round((seams * blockSec + 1.8) * SAMPLE_RATE), { noiseGain: 0.05, seed: 11 })
  const unbroken = await throughBlocks(noisy, { ...EMBEDDED_PLAN, blockSamples: noisy.length })
  const blockSamples = Math.round(blockSec * SAMPLE_RATE)
  const joined = await throughBlocks(noisy, { ...EMBEDDED_PLAN, blockSamples })

  const differenceDb = (from: number, to: number) => {
    let error = 0
    let power = 0
    for (let i = from; i < to; i++) {
      error += ((unbroken[i] ?? 0) - (joined[i] ?? 0)) ** 2
      power += (unbroken[i] ?? 0) ** 2
    }
    return 10 * Math.log10((error + 1e-20) / (power + 1e-20))
  }
  expect(differenceDb(0, noisy.length)).toBeLessThan(-40)
  // Half a second from each join on, where it would be heard.
  for (let seam = blockSamples; seam < noisy.length; seam += blockSamples) {
    expect(differenceDb(seam, seam + SAMPLE_RATE / 2)).toBeLessThan(-40)
  }
}, 240_000)

test('the grids of both models and of the transform lie alike in every block', () => {
  const gtcrnFrame = 3 * 256
  for (const samples of [EMBEDDED_PLAN.blockSamples, EMBEDDED_PLAN.beforeSamples]) {
    for (const grid of [480, gtcrnFrame, HOP_SAMPLES]) expect(samples % grid).toBe(0)
  }
})

test('a stream is cut at multiples of the block, each with its context, and nothing twice', async () => {
  const samples = Float32Array.from({ length: 2 * 103 }, (_, i) => i)
  const plan: BlockPlan = { blockSamples: 20, beforeSamples: 7, afterSamples: 5 }
  const seen: number[] = []
  let start = 0
  for await (const { channels, innerStart, innerEnd } of cutBlocks(inBuffers(samples, 13), 2, plan)) {
    const [left = new Float32Array(0), right] = channels
    expect(innerStart).toBe(Math.min(7, start))
    expect(left.length).toBe(Math.min(103, start + 25) - (start - innerStart))
    expect(left[innerStart]).toBe(2 * start)
    expect(right?.[innerStart]).toBe(2 * start + 1)
    seen.push(...left.subarray(innerStart, innerEnd))
    start += innerEnd - innerStart
  }
  expect(seen).toEqual(Array.from({ length: 103 }, (_, i) => 2 * i))
})
