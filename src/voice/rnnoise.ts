import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { OnShare } from './share.js'

/** Samples of one frame of the model: 10 ms at its rate of 48 kHz. */
export const FRAME_SAMPLES = 480
/** Frames between two reports of progress: a second of sound. */
const REPORT_FRAMES = 100
/** By how much RNNoise 0.2's output lags its input. */
const MODEL_DELAY_SAMPLES = 960

const DELAY_FRAMES = MODEL_DELAY_SAMPLES / FRAME_SAMPLES
/** The model was trained on 16-bit sample values. */
const FULL_SCALE = 32768

interface RnnoiseModule {
  readonly HEAPF32: Float32Array
  _malloc(bytes: number): number
  _free(pointer: number): void
  _rnnoise_create(model: number): number
  _rnnoise_destroy(state: number): void
  _rnnoise_process_frame(state: number, output: number, input: number): number
}

/**
 * RNNoise 0.2 with its weights inside (the sync build of `@jitsi/rnnoise-wasm`).
 * One instance serves any number of channels, one after the other: each call of {@link run} has its own state.
 */
export class Rnnoise {
  readonly #module: RnnoiseModule

  private constructor(module: RnnoiseModule) {
    this.#module = module
  }

  static async load(): Promise<Rnnoise> {
    // The package cannot be imported by name (its index names files without extension, which Node refuses).
    const folder = dirname(createRequire(import.meta.url).resolve('@jitsi/rnnoise-wasm/package.json'))
    const file = pathToFileURL(join(folder, 'dist', 'rnnoise-sync.js')).href
    const { default: create } = (await import(file)) as { default: () => RnnoiseModule }
    return new Rnnoise(create())
  }

  /**
   * Runs the model over one channel, from a fresh state. It takes any level: measured from −60 to −10 dBFS, what it
   * makes of speech in noise differs by less than 0.1 dB.
   *
   * @param samples 48 kHz, full scale ±1
   * @returns the voice in the input's place and of its length, and the probability of voice (0 … 1) of each
   * {@link FRAME_SAMPLES}
   */
  run(samples: Float32Array, onShare?: OnShare) {
    const module = this.#module
    const frames = Math.ceil(samples.length / FRAME_SAMPLES)
    const voice = new Float32Array(samples.length)
    const probability = new Float32Array(frames)
    // `_rnnoise_create` initialises; `_rnnoise_init` on its state would drop the weights and denoise nothing.
    const state = module._rnnoise_create(0)
    const pointer = module._malloc(FRAME_SAMPLES * Float32Array.BYTES_PER_ELEMENT)
    const at = pointer / Float32Array.BYTES_PER_ELEMENT
    try {
      for (let frame = 0; frame < frames + DELAY_FRAMES; frame++) {
        if (frame % REPORT_FRAMES === 0) onShare?.(frame / (frames + DELAY_FRAMES))
        const from = frame * FRAME_SAMPLES
        // A new view each time: a growing heap detaches the old ones.
        const heap = module.HEAPF32
        for (let i = 0; i < FRAME_SAMPLES; i++) heap[at + i] = (samples[from + i] ?? 0) * FULL_SCALE
        const speech = module._rnnoise_process_frame(state, pointer, pointer)
        const late = frame - DELAY_FRAMES
        if (late < 0) continue
        probability[late] = speech
        const to = late * FRAME_SAMPLES
        const result = module.HEAPF32
        const count = Math.min(FRAME_SAMPLES, samples.length - to)
        for (let i = 0; i < count; i++) voice[to + i] = (result[at + i] ?? 0) / FULL_SCALE
      }
    } finally {
      module._free(pointer)
      module._rnnoise_destroy(state)
    }
    return { voice, probability }
  }
}
