import type { SoundModel } from './onnx-frames.js'
import type { OnnxModel, OnnxWhole } from './onnx-model.js'
import type { OnnxSession } from './onnx-session.js'

/** By how much pieces overlap, and are faded into each other. */
const OVERLAP_SEC = 0.5

/** A model that takes a whole sound at once; one longer than it may be is given in pieces. */
export function wholeModel(sessions: readonly OnnxSession[], model: OnnxModel, whole: OnnxWhole): SoundModel {
  const most = Math.floor(whole.maxSec * model.sampleRate)
  const overlap = Math.floor(OVERLAP_SEC * model.sampleRate)
  return async (samples) => {
    const out = new Float32Array(samples.length)
    for (let start = 0; start < samples.length; start += most - overlap) {
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
