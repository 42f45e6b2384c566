import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { SAMPLE_RATE } from '../../src/voice/block-plan.js'
import { createOnnxEngine } from '../../src/voice/onnx/onnx-engine.js'
import { onnxModelSchema } from '../../src/voice/onnx/onnx-model.js'
import { noisySpeech } from '../helpers/sound/made-speech.js'
import { type TinyGraph, tinyOnnx } from '../helpers/sound/tiny-onnx.js'

type Shapes = Readonly<Record<string, readonly number[]>>
interface Signature {
  /** The sound first, then the states, then constants. */
  readonly inputs: Shapes
  /** The sound first, then the states in the same order. */
  readonly outputs: readonly string[]
}

const BINS = [1, 257, 1, 2]
/** The names and shapes with which the projects export their models. */
const PUBLISHED: Readonly<Record<string, Signature>> = {
  'gtcrn_simple.onnx': {
    inputs: { mix: BINS, conv_cache: [2, 1, 16, 16, 33], tra_cache: [2, 3, 1, 1, 16], inter_cache: [2, 1, 33, 16] },
    outputs: ['enh', 'conv_cache_out', 'tra_cache_out', 'inter_cache_out'],
  },
  'ulunas_stream_simple.onnx': {
    inputs: { mix: BINS, conv_cache: [1, 5358], tfa_cache: [1, 402], inter_cache: [1, 1056] },
    outputs: ['enh', 'conv_cache_out', 'tfa_cache_out', 'inter_cache_out'],
  },
  'model_1.onnx': {
    inputs: { input_2: [1, 1, 257], input_3: [1, 2, 128, 2] },
    outputs: ['activation_2', 'tf_op_layer_stack_2'],
  },
  'model_2.onnx': {
    inputs: { input_4: [1, 1, 512], input_5: [1, 2, 128, 2] },
    outputs: ['conv1d_3', 'tf_op_layer_stack_5'],
  },
  'denoiser_model.onnx': {
    inputs: { input_frame: [480], states: [45_304], atten_lim_db: [1] },
    outputs: ['enhanced_audio_frame', 'new_states'],
  },
  'dpdfnet2.onnx': { inputs: { spec: [1, 1, 161, 2], state_in: [1000] }, outputs: ['spec_e', 'state_out'] },
  'dpdfnet2_48khz_hr.onnx': { inputs: { spec: [1, 1, 481, 2], state_in: [1000] }, outputs: ['spec_e', 'state_out'] },
}

/** A model of this signature that halves the sound (as a mask: 0.5), and passes its states on. */
function halving({ inputs, outputs }: Signature, isMask: boolean): TinyGraph {
  const [sound = '', ...rest] = Object.keys(inputs)
  const [out = '', ...states] = outputs
  const shapeOf = (place: number) => Object.values(inputs)[place] ?? []
  return {
    inputs: Object.entries(inputs).map(([name, shape]) => ({ name, shape })),
    outputs: outputs.map((name, i) => ({ name, shape: shapeOf(i) })),
    constants: [
      { name: 'factor', shape: [1], values: [isMask ? 0 : 0.5] },
      { name: 'offset', shape: [1], values: [isMask ? 0.5 : 0] },
    ],
    nodes: [
      { op: 'Mul', inputs: [sound, 'factor'], output: 'scaled' },
      { op: 'Add', inputs: ['scaled', 'offset'], output: out },
      ...states.map((output, i) => ({ op: 'Identity', inputs: [rest[i] ?? ''], output })),
    ],
  }
}

const recipes = [...readFileSync('docs/onnx-engine.md', 'utf8').matchAll(/```json\n(.*?)```/gs)]
  .map(([, json]) => JSON.parse(json ?? ''))
  .filter((recipe) => recipe.frame)
  .map((recipe) => onnxModelSchema.parse(recipe))
const { noisy } = noisySpeech(SAMPLE_RATE / 2, { noiseGain: 0.1, seed: 6 })
const folder = mkdtempSync(join(tmpdir(), 'voxmux-recipes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('there is a recipe for each published model', () => {
  const files = recipes.flatMap(({ stages }) => stages.map(({ file }) => file))
  expect(files.toSorted()).toEqual(Object.keys(PUBLISHED).toSorted())
})

test.each(recipes.map((recipe) => [recipe.stages.map(({ file }) => file).join(' and '), recipe] as const))(
  'the recipe fits %s',
  async (_, recipe) => {
    const model = join(folder, 'model.json')
    writeFileSync(model, JSON.stringify(recipe))
    for (const { file, output } of recipe.stages) {
      const signature = PUBLISHED[file] ?? { inputs: {}, outputs: [] }
      writeFileSync(join(folder, file), tinyOnnx(halving(signature, output.kind === 'mask')))
    }
    const engine = await createOnnxEngine(model, { cleanDb: -300, noisyDb: -299 })
    const { channels } = await engine.regenerate({ channels: [noisy.slice()], innerStart: 0, innerEnd: noisy.length })
    // The small model is not late, so the delay that the recipe takes out makes the result early.
    const early = (recipe.delaySamples * SAMPLE_RATE) / recipe.sampleRate
    const gain = gainOf(channels[0] ?? noisy, noisy.subarray(early))
    expect(gain).toBeGreaterThan(0.95 * 0.5 ** recipe.stages.length * (early > 0 ? 0.1 : 1))
    expect(gain).toBeLessThan(1.05 * 0.5 ** recipe.stages.length)
  },
)

function gainOf(sound: Float32Array, original: Float32Array): number {
  const dot = (a: Float32Array, b: Float32Array) => b.reduce((sum, value, i) => sum + value * (a[i] ?? 0), 0)
  return dot(sound, original) / dot(original, original)
}
