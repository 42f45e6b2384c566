import { type Block, type BlockPlan, SAMPLE_RATE } from './block-plan.js'
import type { RegeneratedBlock, VoiceEngine } from './engine.js'
import { GTCRN_RATE, Gtcrn } from './gtcrn.js'
import { EVIDENCE_REACH_SEC } from './mend/evidence.js'
import type { EvidenceSettings } from './mend/evidence-settings.js'
import { BlendedGain } from './mend/frame-gain.js'
import { mendBlock } from './mend/mend-block.js'
import { BIN_HZ } from './mend/spectral-change.js'
import { decimate, interpolate } from './resample-by-factor.js'
import { Rnnoise } from './rnnoise.js'
import { innerProbability, likeliest } from './voice-probability.js'
import { gainToWorkingLevel } from './working-level.js'

/** How long a model's recurrent state takes to forget where it began, beside what the evidence looks back. */
const WARM_UP_SEC = 2.4

/**
 * Long enough that warming up costs little, short enough that a film keeps every core busy. All are multiples of the
 * models' frames and of the transform's hop, so that their grids lie alike in every block.
 */
export const EMBEDDED_PLAN: BlockPlan = {
  blockSamples: 60 * SAMPLE_RATE,
  beforeSamples: Math.round((EVIDENCE_REACH_SEC + WARM_UP_SEC) * SAMPLE_RATE),
  afterSamples: Math.round(EVIDENCE_REACH_SEC * SAMPLE_RATE),
}

/** The default engine: RNNoise hears the whole band, GTCRN the band of the voice, and their gains are blended. */
export async function createEmbeddedEngine(settings: EvidenceSettings): Promise<VoiceEngine> {
  const rnnoise = await Rnnoise.load()
  const gtcrn = await Gtcrn.load()
  const gain = new BlendedGain(BIN_HZ)
  const factor = SAMPLE_RATE / GTCRN_RATE
  return {
    plan: EMBEDDED_PLAN,
    regenerate: async (block: Block): Promise<RegeneratedBlock> => {
      const probabilities: Float32Array[] = []
      const channels = await mendBlock(block, settings, gain, (channel) => {
        const { voice, probability } = rnnoise.run(channel)
        probabilities.push(probability)
        const low = decimate(channel, factor)
        const level = gainToWorkingLevel(low, 0.4 * GTCRN_RATE)
        const found = gtcrn.run(low.map((value) => value * level)).map((value) => value / level)
        return [voice, interpolate(found, factor, channel.length)]
      })
      return { channels, probability: innerProbability(likeliest(probabilities), block, 0) }
    },
    detect: async (block) => detectWithRnnoise(rnnoise, block),
  }
}

/** Probability of voice on the mean of the channels. */
export function detectWithRnnoise(rnnoise: Rnnoise, block: Block): Float32Array<ArrayBuffer> {
  const start = Math.max(0, block.innerStart - 2 * WARM_UP_SEC * SAMPLE_RATE)
  const mean = new Float32Array(block.innerEnd - start)
  for (const channel of block.channels) {
    for (let i = 0; i < mean.length; i++) mean[i] = (mean[i] ?? 0) + (channel[start + i] ?? 0) / block.channels.length
  }
  return innerProbability(rnnoise.run(mean).probability, block, start)
}
