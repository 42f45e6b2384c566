import type { OnShare } from '../share.js'
import type { OnnxFrame, OnnxModel } from './onnx-model.js'
import type { OnnxSession } from './onnx-session.js'
import { OnnxFrameStage } from './onnx-stage.js'

/** A sound at the model's rate, through the model and back in place, less the model's delay. */
export type SoundModel = (samples: Float32Array, onShare?: OnShare) => Promise<Float32Array>

/** A model that is fed frame by frame: overlapped, windowed, and added up again. */
export function framedModel(sessions: readonly OnnxSession[], model: OnnxModel, frame: OnnxFrame): SoundModel {
  const stages = sessions.map((session) => new OnnxFrameStage(session, frame.size, model.compression))
  const weights = windowOf(frame)
  return async (samples, onShare) => {
    for (const stage of stages) stage.reset()
    const { size, hop } = frame
    let reportAt = model.sampleRate
    const sum = new Float32Array(samples.length + size + model.delaySamples)
    const weightSum = new Float32Array(sum.length)
    for (let start = hop - size; start < samples.length + model.delaySamples; start += hop) {
      if (start >= reportAt) {
        onShare?.(Math.min(1, start / samples.length))
        reportAt += model.sampleRate
      }
      let values = Float32Array.from(weights, (weight, i) => (samples[start + i] ?? 0) * weight)
      for (const stage of stages) values = new Float32Array(await stage.run(values))
      for (let i = Math.max(0, -start); i < size && start + i < sum.length; i++) {
        const weight = weights[i] ?? 0
        sum[start + i] = (sum[start + i] ?? 0) + (values[i] ?? 0) * weight
        weightSum[start + i] = (weightSum[start + i] ?? 0) + weight * weight
      }
    }
    return sum
      .map((value, i) => value / Math.max(weightSum[i] ?? 0, 1e-3))
      .slice(model.delaySamples, model.delaySamples + samples.length)
  }
}

function windowOf({ window, size }: OnnxFrame): Float64Array {
  const hann = (i: number) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / size)
  // The window of Vorbis lies between two samples, as its specification says.
  const vorbis = (i: number) => Math.sin((Math.PI / 2) * Math.sin((Math.PI * (i + 0.5)) / size) ** 2)
  const exponent = { hann: 1, 'sqrt-hann': 0.5, rectangular: 0 }
  return Float64Array.from({ length: size }, (_, i) => (window === 'vorbis' ? vorbis(i) : hann(i) ** exponent[window]))
}
