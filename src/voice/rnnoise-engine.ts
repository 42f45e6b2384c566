import { type Block, type BlockPlan, SAMPLE_RATE } from './block-plan.js'
import type { RegeneratedBlock, VoiceEngine } from './engine.js'
import { limitPeaks } from './limit-peaks.js'
import type { MaskSettings } from './mask-settings.js'
import { FUTURE_SEC, measureBackground, PAST_SEC } from './noisiness.js'
import { FRAME_SAMPLES, Rnnoise } from './rnnoise.js'
import { applyMask, WINDOW_SAMPLES } from './spectral-mask.js'

/** How long the model's recurrent state takes to forget where it began. A multiple of hop and frame. */
const WARM_UP_SAMPLES = 3.2 * SAMPLE_RATE

/**
 * Long enough that warming up costs little, short enough that a film keeps every core busy. All are multiples of the
 * model's frame, the mask's hop and the background's step, so that their grids lie alike in every block.
 */
export const RNNOISE_PLAN: BlockPlan = {
  blockSamples: 60 * SAMPLE_RATE,
  beforeSamples: PAST_SEC * SAMPLE_RATE,
  afterSamples: FUTURE_SEC * SAMPLE_RATE,
}

/** The default engine: RNNoise finds the voice, and its gain is laid on the original with as much strength as needed. */
export async function createRnnoiseEngine(settings: MaskSettings): Promise<VoiceEngine> {
  const model = await Rnnoise.load()
  return {
    plan: RNNOISE_PLAN,
    regenerate: async (block) => regenerateBlock(model, block, settings),
    detect: async (block) => detectBlock(model, block),
  }
}

function regenerateBlock(model: Rnnoise, block: Block, settings: MaskSettings): RegeneratedBlock {
  const { channels, innerStart, innerEnd } = block
  const length = channels[0]?.length ?? 0
  const background = measureBackground(channels)
  const modelStart = Math.max(0, innerStart - WARM_UP_SAMPLES)
  // The mask's windows reach so far over both ends of the block.
  const maskStart = Math.max(0, innerStart - WINDOW_SAMPLES)
  const maskEnd = Math.min(length, innerEnd + WINDOW_SAMPLES)

  const results = channels.map((channel) => model.run(channel.subarray(modelStart, maskEnd)))
  const original = channels.map((channel) => channel.subarray(maskStart, maskEnd))
  const masked = applyMask(
    original,
    results.map(({ voice }) => voice.subarray(maskStart - modelStart)),
    settings,
    (sample) => strengthAt(background(maskStart + sample), settings),
  )
  limitPeaks(masked, original)
  return {
    channels: masked.map((channel) => channel.slice(innerStart - maskStart, innerEnd - maskStart)),
    probability: inner(loudest(results.map(({ probability }) => probability)), block, modelStart),
  }
}

/** 0 where the background is so low that mending would only harm, 1 where it is not, smooth between. */
function strengthAt(backgroundDb: number, { cleanDb, noisyDb }: MaskSettings): number {
  const x = Math.min(1, Math.max(0, (backgroundDb - cleanDb) / (noisyDb - cleanDb)))
  return x * x * (3 - 2 * x)
}

function detectBlock(model: Rnnoise, block: Block): Float32Array<ArrayBuffer> {
  const modelStart = Math.max(0, block.innerStart - WARM_UP_SAMPLES)
  const mean = new Float32Array(block.innerEnd - modelStart)
  for (const channel of block.channels) {
    for (let i = 0; i < mean.length; i++)
      mean[i] = (mean[i] ?? 0) + (channel[modelStart + i] ?? 0) / block.channels.length
  }
  return inner(model.run(mean).probability, block, modelStart)
}

function inner(probability: Float32Array, block: Block, modelStart: number): Float32Array<ArrayBuffer> {
  const from = (block.innerStart - modelStart) / FRAME_SAMPLES
  return Float32Array.from(
    probability.subarray(from, from + Math.ceil((block.innerEnd - block.innerStart) / FRAME_SAMPLES)),
  )
}

/** At each frame the channel that most probably has a voice. */
function loudest(channels: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array(0), ...others] = channels
  return others.reduce((best, other) => best.map((value, i) => Math.max(value, other[i] ?? 0)), first)
}
