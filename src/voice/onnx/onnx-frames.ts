import { type FrameFft, frameFft } from '../any-size-fft.js'
import type { OnShare } from '../share.js'
import type { OnnxFrame, OnnxModel, OnnxStage } from './onnx-model.js'
import type { OnnxSession } from './onnx-session.js'

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

type Shape = OnnxStage['input']['shape']

/** Brings a frame into the form a stage asks for, and what comes out of it back into a frame. */
class OnnxFrameStage {
  readonly #session: OnnxSession
  readonly #stage: OnnxStage
  readonly #size: number
  readonly #bins: number
  readonly #compression: number
  readonly #fft: FrameFft | undefined

  constructor(session: OnnxSession, frameSize: number, compression: number) {
    const { stage } = session
    this.#session = session
    this.#stage = stage
    this.#size = frameSize
    this.#bins = frameSize / 2 + 1
    this.#compression = compression
    this.#fft = stage.input.kind === 'samples' && stage.output.kind === 'samples' ? undefined : frameFft(frameSize)
  }

  reset(): void {
    this.#session.reset()
  }

  async run(frame: Float32Array): Promise<Float32Array> {
    const spectrum = this.#fft?.forward(frame) ?? new Float64Array(0)
    const { input, output } = this.#stage
    const given = await this.#session.run(this.#inputOf(frame, spectrum), this.#dimensions(input.shape))
    switch (output.kind) {
      case 'samples':
        return Float32Array.from(given)
      case 'mask':
        for (let bin = 0; bin < this.#bins; bin++) {
          const gain = given[bin] ?? 0
          spectrum[2 * bin] = (spectrum[2 * bin] ?? 0) * gain
          spectrum[2 * bin + 1] = (spectrum[2 * bin + 1] ?? 0) * gain
        }
        return this.#frameOf(spectrum)
      case 'spectrum': {
        const [re, im] = this.#partOffsets(output.shape)
        const step = this.#binStep(output.shape)
        for (let bin = 0; bin < this.#bins; bin++) {
          spectrum[2 * bin] = given[re + bin * step] ?? 0
          spectrum[2 * bin + 1] = given[im + bin * step] ?? 0
        }
        power(spectrum, this.#bins, 1 / this.#compression)
        return this.#frameOf(spectrum)
      }
      default:
        return output.kind satisfies never
    }
  }

  #inputOf(frame: Float32Array, spectrum: Float64Array): Float32Array {
    const { kind, shape } = this.#stage.input
    switch (kind) {
      case 'samples':
        return frame
      case 'magnitude':
        return Float32Array.from({ length: this.#bins }, (_, bin) => {
          return Math.hypot(spectrum[2 * bin] ?? 0, spectrum[2 * bin + 1] ?? 0) ** this.#compression
        })
      case 'spectrum': {
        const compressed = spectrum.slice()
        power(compressed, this.#bins, this.#compression)
        const [re, im] = this.#partOffsets(shape)
        const step = this.#binStep(shape)
        const values = new Float32Array(2 * this.#bins)
        for (let bin = 0; bin < this.#bins; bin++) {
          values[re + bin * step] = compressed[2 * bin] ?? 0
          values[im + bin * step] = compressed[2 * bin + 1] ?? 0
        }
        return values
      }
      default:
        return kind satisfies never
    }
  }

  #dimensions(shape: Shape): number[] {
    return shape.map((size) =>
      size === 'bins' ? this.#bins : size === 'parts' ? 2 : size === 'samples' ? this.#size : size,
    )
  }

  /** Real and imaginary side by side if `parts` comes last, one after the other if it comes first. */
  #partOffsets(shape: Shape): [number, number] {
    return shape.indexOf('parts') > shape.indexOf('bins') ? [0, 1] : [0, this.#bins]
  }

  #binStep(shape: Shape): number {
    return shape.indexOf('parts') > shape.indexOf('bins') ? 2 : 1
  }

  #frameOf(spectrum: Float64Array): Float32Array {
    return Float32Array.from(this.#fft?.inverse(spectrum) ?? [])
  }
}

/** Raises the magnitudes of a spectrum to an exponent and keeps the phases. In place. */
function power(spectrum: Float64Array, bins: number, exponent: number): void {
  if (exponent === 1) return
  for (let bin = 0; bin < bins; bin++) {
    const magnitude = Math.hypot(spectrum[2 * bin] ?? 0, spectrum[2 * bin + 1] ?? 0)
    const scale = magnitude > 0 ? magnitude ** (exponent - 1) : 0
    spectrum[2 * bin] = (spectrum[2 * bin] ?? 0) * scale
    spectrum[2 * bin + 1] = (spectrum[2 * bin + 1] ?? 0) * scale
  }
}
