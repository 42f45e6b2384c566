import { lowerBed } from './bed/lower-bed.js'
import { type Block, type BlockPlan, SAMPLE_RATE } from './block-plan.js'
import type { VoiceEngine } from './engine.js'
import { GTCRN_RATE, Gtcrn } from './gtcrn.js'
import { interpolate } from './resample-by-factor.js'
import { EVIDENCE_REACH_SEC } from './restore/evidence.js'
import type { EvidenceSettings } from './restore/evidence-settings.js'
import { BlendedGain } from './restore/frame-gain.js'
import type { PreparedChannel } from './restore/prepare-channel.js'
import { judgeBlock, restoreBlock } from './restore/restore-block.js'
import { BIN_HZ } from './restore/spectral-change.js'
import { FRAME_SAMPLES, Rnnoise } from './rnnoise.js'
import { type OnShare, stepOf } from './share.js'

/** Mean square at which GTCRN works best, −24 dBFS: found by its figures for speech from −80 to −10 dBFS. */
const WORKING_POWER = 0.004

/** Sound further under the mean is a pause, and does not show how loud the speech is. */
const PAUSE_RATIO = 0.1

/** At most 84 dB: silence stays silence. */
const MOST_STEPS = 14

/** Share of the time of both models that RNNoise takes. */
const RNNOISE_SHARE = 0.3

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
  const gain = new BlendedGain(BIN_HZ)
  const rnnoise = await Rnnoise.load()
  const gtcrn = await Gtcrn.load()
  const factor = SAMPLE_RATE / GTCRN_RATE
  const listenInto = (probabilities: Float32Array[]) => (channel: PreparedChannel, onShare?: OnShare) => {
    const { voice, probability } = rnnoise.run(channel.sound, stepOf(onShare, 0, RNNOISE_SHARE))
    probabilities.push(probability)
    const low = channel.low()
    const level = gainToWorkingLevel(low, 0.4 * GTCRN_RATE)
    const heard = gtcrn.run(
      low.map((value) => value * level),
      stepOf(onShare, RNNOISE_SHARE, 1),
    )
    const found = heard.map((value) => value / level)
    return [voice, interpolate(found, factor, channel.sound.length)]
  }
  return {
    plan: EMBEDDED_PLAN,
    regenerate: async (block, onShare) => {
      const probabilities: Float32Array[] = []
      const channels = await restoreBlock(block, settings, gain, listenInto(probabilities), onShare)
      return { channels, probability: innerProbability(likeliest(probabilities), block, 0) }
    },
    lowerBed: async (block) => ({ channels: await lowerBed(block, gain, listenInto([])), probability: null }),
    judge: async (block) => {
      const probabilities: Float32Array[] = []
      const judged = await judgeBlock(block, settings, gain, listenInto(probabilities))
      return { ...judged, probability: innerProbability(likeliest(probabilities), block, 0) }
    },
    // As {@link regenerate} measures it, so that both decide alike.
    detect: async (block) =>
      innerProbability(likeliest(block.channels.map((channel) => rnnoise.run(channel).probability)), block, 0),
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

/** The block's own part of the probabilities of what a model heard from `start` on. */
function innerProbability(probability: Float32Array, block: Block, start: number): Float32Array<ArrayBuffer> {
  const from = (block.innerStart - start) / FRAME_SAMPLES
  const count = Math.ceil((block.innerEnd - block.innerStart) / FRAME_SAMPLES)
  return Float32Array.from(probability.subarray(from, from + count))
}

/** At each frame the channel that most probably has a voice. */
function likeliest(channels: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array(0), ...others] = channels
  return others.reduce((best, other) => best.map((value, i) => Math.max(value, other[i] ?? 0)), first)
}

/**
 * The gain that brings a sound to where GTCRN works best, which hears quiet speech as noise. It is a power of two:
 * taken back it leaves no trace, and neighbouring blocks mostly get the same.
 *
 * @param windowSamples length of the pieces whose loudness is compared
 */
function gainToWorkingLevel(samples: Float32Array, windowSamples: number): number {
  const powers: number[] = []
  for (let start = 0; start < samples.length; start += windowSamples) {
    const window = samples.subarray(start, start + windowSamples)
    powers.push(window.reduce((sum, value) => sum + value * value, 0) / window.length)
  }
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const heard = powers.filter((power) => power > 0)
  if (heard.length === 0) return 1
  const gate = mean(heard) * PAUSE_RATIO
  const power = mean(heard.filter((value) => value >= gate))
  const steps = Math.round(Math.log2(WORKING_POWER / power) / 2)
  return 2 ** Math.max(-MOST_STEPS, Math.min(MOST_STEPS, steps))
}
