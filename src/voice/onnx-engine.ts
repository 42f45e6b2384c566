import { readFile } from 'node:fs/promises'
import { UsageError } from '../core/errors.js'
import { type Block, type BlockPlan, SAMPLE_RATE } from './block-plan.js'
import type { RegeneratedBlock, VoiceEngine } from './engine.js'
import type { MaskSettings } from './mask-settings.js'
import { mendBlock } from './mend-block.js'
import { type OnnxModel, onnxModelSchema } from './onnx-model.js'
import { loadOnnxRuntime, OnnxSession } from './onnx-session.js'
import { OnnxFrameStage } from './onnx-stage.js'
import { decimate, interpolate } from './resample-by-factor.js'
import { RNNOISE_PLAN } from './rnnoise-engine.js'

/** Blocks as the default engine's: their context is long enough for a model's states to settle. */
export const ONNX_PLAN: BlockPlan = RNNOISE_PLAN

/**
 * An engine of the operator's own model.
 *
 * @param path of the JSON that describes it ({@link onnxModelSchema}); the model's files lie beside it
 * @throws UsageError ERR_ONNX_MISSING, ERR_ONNX_MODEL
 */
export async function createOnnxEngine(path: string, settings: MaskSettings): Promise<VoiceEngine> {
  const model = await readModel(path)
  const runtime = await loadOnnxRuntime()
  const stages = await Promise.all(
    model.stages.map(async (stage) => new OnnxFrameStage(await OnnxSession.load(runtime, stage, path), stage, model)),
  )
  const band = { ...settings, modelBandHz: Math.min(settings.modelBandHz, model.sampleRate * 0.47) }
  return {
    plan: ONNX_PLAN,
    regenerate: async (block: Block): Promise<RegeneratedBlock> => {
      const channels = await mendBlock(block, band, (channel) => throughModel(channel, stages, model))
      return { channels, probability: null }
    },
    detect: async () => null,
  }
}

async function readModel(path: string): Promise<OnnxModel> {
  try {
    return onnxModelSchema.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError('ERR_ONNX_MODEL', `The description of the voice model, ${path}, cannot be used: ${why}`, {
      cause,
    })
  }
}

/** A channel at 48 kHz through the model, in place to the sample. */
async function throughModel(
  channel: Float32Array,
  stages: readonly OnnxFrameStage[],
  { sampleRate, frame: { size, hop, window }, delaySamples }: OnnxModel,
): Promise<Float32Array> {
  for (const stage of stages) stage.reset()
  const factor = SAMPLE_RATE / sampleRate
  const samples = decimate(channel, factor)
  const weights = windowOf(window, size)
  const sum = new Float32Array(samples.length + size + delaySamples)
  const weightSum = new Float32Array(sum.length)
  for (let start = hop - size; start < samples.length + delaySamples; start += hop) {
    let frame = Float32Array.from({ length: size }, (_, i) => (samples[start + i] ?? 0) * (weights[i] ?? 0))
    for (const stage of stages) frame = new Float32Array(await stage.run(frame))
    for (let i = Math.max(0, -start); i < size && start + i < sum.length; i++) {
      const weight = weights[i] ?? 0
      sum[start + i] = (sum[start + i] ?? 0) + (frame[i] ?? 0) * weight
      weightSum[start + i] = (weightSum[start + i] ?? 0) + weight * weight
    }
  }
  const result = sum.map((value, i) => value / Math.max(weightSum[i] ?? 0, 1e-3))
  return interpolate(result.slice(delaySamples), factor, channel.length)
}

function windowOf(kind: OnnxModel['frame']['window'], size: number): Float64Array {
  const hann = (i: number) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / size)
  const exponent = { hann: 1, 'sqrt-hann': 0.5, rectangular: 0 }[kind]
  return Float64Array.from({ length: size }, (_, i) => hann(i) ** exponent)
}
