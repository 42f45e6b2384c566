import { readFile } from 'node:fs/promises'
import { thrownMessage, UsageError } from '../../core/errors.js'
import { lowerBed } from '../bed/lower-bed.js'
import { SAMPLE_RATE } from '../block-plan.js'
import { detectWithRnnoise, EMBEDDED_PLAN } from '../embedded-engine.js'
import type { VoiceEngine } from '../engine.js'
import { decimate, interpolate } from '../resample-by-factor.js'
import type { EvidenceSettings } from '../restore/evidence-settings.js'
import { OwnGain } from '../restore/frame-gain.js'
import type { PreparedChannel } from '../restore/prepare-channel.js'
import { judgeBlock, restoreBlock } from '../restore/restore-block.js'
import { BIN_HZ } from '../restore/spectral-change.js'
import { Rnnoise } from '../rnnoise.js'
import type { OnShare } from '../share.js'
import { framedModel, type SoundModel } from './onnx-frames.js'
import { type OnnxModel, type OnnxWhole, onnxModelSchema } from './onnx-model.js'
import { loadOnnxRuntime, OnnxSession } from './onnx-session.js'

/** By how much pieces overlap, and are faded into each other. */
const OVERLAP_SEC = 0.5

/**
 * An engine of the operator's own model.
 *
 * @param path of the JSON that describes it ({@link onnxModelSchema}); the model's files lie beside it
 * @throws UsageError ERR_ONNX_MISSING, ERR_ONNX_MODEL
 */
export async function createOnnxEngine(path: string, settings: EvidenceSettings): Promise<VoiceEngine> {
  const model = await readModel(path)
  const runtime = await loadOnnxRuntime()
  const sessions = await Promise.all(model.stages.map((stage) => OnnxSession.load(runtime, stage, path)))
  const sound = soundModel(sessions, model)
  const rnnoise = await Rnnoise.load()
  const gain = new OwnGain(BIN_HZ, model.sampleRate * 0.47)
  const listen = async (channel: PreparedChannel, onShare?: OnShare) => [
    await throughModel(channel.sound, sound, model.sampleRate, onShare),
  ]
  return {
    plan: EMBEDDED_PLAN,
    regenerate: async (block, onShare) => {
      const channels = await restoreBlock(block, settings, gain, listen, onShare)
      return { channels, probability: detectWithRnnoise(rnnoise, block) }
    },
    lowerBed: async (block) => ({ channels: await lowerBed(block, gain, listen), probability: null }),
    judge: async (block) => {
      const judged = await judgeBlock(block, settings, gain, listen)
      return { ...judged, probability: detectWithRnnoise(rnnoise, block) }
    },
    detect: async (block) => detectWithRnnoise(rnnoise, block),
  }
}

async function readModel(path: string): Promise<OnnxModel> {
  try {
    return onnxModelSchema.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (cause) {
    const why = thrownMessage(cause)
    throw new UsageError('ERR_ONNX_MODEL', `The description of the voice model, ${path}, cannot be used: ${why}`, {
      cause,
    })
  }
}

function soundModel(sessions: readonly OnnxSession[], model: OnnxModel): SoundModel {
  if (model.frame) return framedModel(sessions, model, model.frame)
  if (model.whole) return wholeModel(sessions, model, model.whole)
  throw new Error('The schema wants one of "frame" and "whole".')
}

/** A channel at 48 kHz through the model, in place to the sample. */
async function throughModel(
  channel: Float32Array,
  sound: SoundModel,
  sampleRate: number,
  onShare: OnShare | undefined,
): Promise<Float32Array> {
  const factor = SAMPLE_RATE / sampleRate
  return interpolate(await sound(decimate(channel, factor), onShare), factor, channel.length)
}

/** A model that takes a whole sound at once; one longer than it may be is given in pieces. */
export function wholeModel(sessions: readonly OnnxSession[], model: OnnxModel, whole: OnnxWhole): SoundModel {
  const most = Math.floor(whole.maxSec * model.sampleRate)
  const overlap = Math.floor(OVERLAP_SEC * model.sampleRate)
  return async (samples, onShare) => {
    const out = new Float32Array(samples.length)
    for (let start = 0; start < samples.length; start += most - overlap) {
      onShare?.(start / samples.length)
      const piece = samples.subarray(start, start + most)
      const voice = await through(piece, sessions, model, whole)
      for (let i = 0; i < piece.length; i++) {
        const weight = start === 0 ? 1 : Math.min(1, (i + 0.5) / overlap)
        out[start + i] = (out[start + i] ?? 0) * (1 - weight) + (voice[i] ?? 0) * weight
      }
      if (start + most >= samples.length) break
    }
    return out
  }
}

async function through(
  piece: Float32Array,
  sessions: readonly OnnxSession[],
  { delaySamples }: OnnxModel,
  { multipleSamples }: OnnxWhole,
): Promise<Float32Array> {
  const needed = piece.length + delaySamples
  let values = new Float32Array(Math.ceil(needed / multipleSamples) * multipleSamples)
  values.set(piece)
  for (const session of sessions) {
    session.reset()
    const { shape } = session.stage.input
    const length = values.length
    const dimensions = shape.map((size) => (typeof size === 'number' ? size : length))
    values = new Float32Array(await session.run(values, dimensions))
  }
  return values.subarray(delaySamples)
}
