import { type Block, type BlockPlan, SAMPLE_RATE } from './block-plan.js'
import type { RegeneratedBlock, VoiceEngine } from './engine.js'
import type { MaskSettings } from './mask-settings.js'
import { mendBlock, WARM_UP_SAMPLES } from './mend-block.js'
import { FUTURE_SEC, PAST_SEC } from './noisiness.js'
import { FRAME_SAMPLES, Rnnoise } from './rnnoise.js'

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

async function regenerateBlock(model: Rnnoise, block: Block, settings: MaskSettings): Promise<RegeneratedBlock> {
  const probabilities: Float32Array[] = []
  const channels = await mendBlock(block, settings, (channel) => {
    const { voice, probability } = model.run(channel)
    probabilities.push(probability)
    return voice
  })
  const modelStart = Math.max(0, block.innerStart - WARM_UP_SAMPLES)
  return { channels, probability: inner(loudest(probabilities), block, modelStart) }
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
