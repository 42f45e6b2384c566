import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { InferenceSession, Tensor } from 'onnxruntime-web'
import { thrownMessage, UsageError } from '../../core/errors.js'
import { packageMissing } from '../../core/optional-package.js'
import type { OnnxStage } from './onnx-model.js'

type Runtime = typeof import('onnxruntime-web')

/** onnxruntime-web with one thread: workers are the threads. @throws UsageError ERR_ONNX_MISSING */
export async function loadOnnxRuntime(
  load: () => Promise<Runtime> = () => import('onnxruntime-web'),
): Promise<Runtime> {
  const runtime = await load().catch(
    packageMissing('ERR_ONNX_MISSING', 'The onnx voice engine needs', 'onnxruntime-web'),
  )
  runtime.env.wasm.numThreads = 1
  return runtime
}

/** One stage of a model: its session, and the states that go from frame to frame. */
export class OnnxSession {
  readonly #runtime: Runtime
  readonly #session: InferenceSession
  readonly stage: OnnxStage
  #states: Record<string, Tensor> = {}

  private constructor(runtime: Runtime, session: InferenceSession, stage: OnnxStage) {
    this.#runtime = runtime
    this.#session = session
    this.stage = stage
    this.reset()
  }

  /** @throws UsageError ERR_ONNX_MODEL if the file is missing or no model */
  static async load(runtime: Runtime, stage: OnnxStage, descriptionPath: string): Promise<OnnxSession> {
    const path = resolve(dirname(descriptionPath), stage.file)
    try {
      const session = await runtime.InferenceSession.create(new Uint8Array(await readFile(path)))
      return new OnnxSession(runtime, session, stage)
    } catch (cause) {
      const why = thrownMessage(cause)
      throw new UsageError('ERR_ONNX_MODEL', `The voice model ${path} cannot be loaded: ${why}`, { cause })
    }
  }

  /** Forgets what it heard. */
  reset(): void {
    const { states, constants } = this.stage
    const begun = states.map(({ input, shape, initial }) => {
      const values = new Float32Array(shape.reduce((total, size) => total * size, 1))
      values.set(initial)
      return [input, this.#tensor(values, shape)]
    })
    const fixed = constants.map(({ name, shape, values }) => [name, this.#tensor(Float32Array.from(values), shape)])
    this.#states = Object.fromEntries([...begun, ...fixed])
  }

  /** One frame through the stage. */
  async run(values: Float32Array, shape: readonly number[]): Promise<Float32Array> {
    const { input, output, states } = this.stage
    const results = await this.#session.run({ ...this.#states, [input.name]: this.#tensor(values, shape) })
    for (const state of states) {
      const next = results[state.output]
      if (!next) throw new Error(`the model has no output "${state.output}"`)
      this.#states[state.input] = next
    }
    const data = results[output.name]?.data
    if (!(data instanceof Float32Array)) throw new Error(`the model has no output "${output.name}" of 32-bit floats`)
    return data
  }

  #tensor(values: Float32Array, shape: readonly number[]): Tensor {
    return new this.#runtime.Tensor('float32', values, [...shape])
  }
}
