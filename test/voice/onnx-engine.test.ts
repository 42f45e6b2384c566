import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { SAMPLE_RATE } from '../../src/voice/block-plan.js'
import { VoicePool } from '../../src/voice/index.js'
import { wholeModel } from '../../src/voice/onnx/onnx-engine.js'
import type { OnnxModel } from '../../src/voice/onnx/onnx-model.js'
import { loadOnnxRuntime, type OnnxSession } from '../../src/voice/onnx/onnx-session.js'
import { noisySpeech } from '../helpers/sound/made-speech.js'
import { regenerated } from '../helpers/sound/regenerated.js'
import { type TinyGraph, tinyOnnx } from '../helpers/sound/tiny-onnx.js'

const folder = mkdtempSync(join(tmpdir(), 'voxmux-onnx-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Always at full strength: what the model does can be read off the output. */
const evidence = { cleanDb: -300, noisyDb: -299 }
const { noisy } = noisySpeech(SAMPLE_RATE, { noiseGain: 0.1, seed: 6 })

async function through(description: object, models: Record<string, TinyGraph>): Promise<Float32Array> {
  for (const [file, graph] of Object.entries(models)) writeFileSync(join(folder, file), tinyOnnx(graph))
  const model = join(folder, 'model.json')
  writeFileSync(model, JSON.stringify(description))
  await using pool = new VoicePool({ workers: 1, engine: { kind: 'onnx', model, evidence } })
  return await regenerated(noisy, { pool })
}

/** How loud the output is against the input, and how much of it is anything else. */
function gainOf(output: Float32Array): { gain: number; rest: number } {
  const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
  const gain = dot(output, noisy) / dot(noisy, noisy)
  const error = output.map((value, i) => value - gain * (noisy[i] ?? 0))
  return { gain, rest: Math.sqrt(dot(error, error) / dot(output, output)) }
}

/** Halves what comes in, and counts frames in a state that it hands on. */
function halving(name: string, shape: readonly number[]): TinyGraph {
  return {
    inputs: [
      { name, shape },
      { name: 'count', shape: [1] },
    ],
    outputs: [
      { name: 'out', shape },
      { name: 'next', shape: [1] },
    ],
    constants: [
      { name: 'half', shape: [1], values: [0.5] },
      { name: 'one', shape: [1], values: [1] },
    ],
    nodes: [
      { op: 'Mul', inputs: [name, 'half'], output: 'out' },
      { op: 'Add', inputs: ['count', 'one'], output: 'next' },
    ],
  }
}

const states = [{ input: 'count', output: 'next', shape: [1] }]

describe('the onnx engine', () => {
  test('feeds a spectrum and its states (GTCRN)', async () => {
    const shape = [1, 'bins', 1, 'parts']
    const stage = {
      file: 'g.onnx',
      input: { name: 'mix', kind: 'spectrum', shape },
      output: { name: 'out', kind: 'spectrum', shape },
      states,
    }
    const output = await through(
      { sampleRate: 16_000, frame: { size: 512, hop: 256 }, stages: [stage] },
      { 'g.onnx': halving('mix', [1, 257, 1, 2]) },
    )
    expect(output).toHaveLength(noisy.length)
    const { gain, rest } = gainOf(output)
    expect(gain).toBeCloseTo(0.5, 2)
    expect(rest).toBeLessThan(0.05)
  })

  test('chains a mask of magnitudes and samples (DTLN)', async () => {
    const bins = [1, 1, 'bins']
    const samples = [1, 1, 'samples']
    const constant: TinyGraph = {
      inputs: [{ name: 'mag', shape: [1, 1, 257] }],
      outputs: [{ name: 'mask', shape: [1, 1, 257] }],
      constants: [
        { name: 'zero', shape: [1], values: [0] },
        { name: 'level', shape: [1], values: [0.5] },
      ],
      nodes: [
        { op: 'Mul', inputs: ['mag', 'zero'], output: 'nothing' },
        { op: 'Add', inputs: ['nothing', 'level'], output: 'mask' },
      ],
    }
    const output = await through(
      {
        sampleRate: 16_000,
        frame: { size: 512, hop: 128, window: 'rectangular' },
        stages: [
          {
            file: 'd1.onnx',
            input: { name: 'mag', kind: 'magnitude', shape: bins },
            output: { name: 'mask', kind: 'mask', shape: bins },
          },
          {
            file: 'd2.onnx',
            input: { name: 'frame', kind: 'samples', shape: samples },
            output: { name: 'out', kind: 'samples', shape: samples },
            states,
          },
        ],
      },
      { 'd1.onnx': constant, 'd2.onnx': halving('frame', [1, 1, 512]) },
    )
    const { gain, rest } = gainOf(output)
    expect(gain).toBeCloseTo(0.25, 2)
    expect(rest).toBeLessThan(0.05)
  })

  test('feeds frames of samples with a constant (DeepFilterNet)', async () => {
    const shape = ['samples']
    const graph: TinyGraph = {
      inputs: [
        { name: 'input_frame', shape: [480] },
        { name: 'limit', shape: [1] },
      ],
      outputs: [{ name: 'out', shape: [480] }],
      constants: [],
      nodes: [{ op: 'Mul', inputs: ['input_frame', 'limit'], output: 'out' }],
    }
    const stage = {
      file: 'f.onnx',
      input: { name: 'input_frame', kind: 'samples', shape },
      output: { name: 'out', kind: 'samples', shape },
      constants: [{ name: 'limit', shape: [1], values: [0.25] }],
    }
    const output = await through(
      { sampleRate: 48_000, frame: { size: 480, hop: 480, window: 'rectangular' }, stages: [stage] },
      { 'f.onnx': graph },
    )
    expect(gainOf(output)).toMatchObject({ gain: expect.closeTo(0.25, 3) })
  })

  test('feeds spectra of a size that is no power of two', async () => {
    const shape = [1, 'parts', 'bins']
    const stage = {
      file: 's.onnx',
      input: { name: 'mix', kind: 'spectrum', shape },
      output: { name: 'out', kind: 'spectrum', shape },
      states,
    }
    const output = await through(
      { sampleRate: 48_000, frame: { size: 960, hop: 480 }, stages: [stage] },
      { 's.onnx': halving('mix', [1, 2, 481]) },
    )
    const { gain, rest } = gainOf(output)
    expect(gain).toBeCloseTo(0.5, 2)
    expect(rest).toBeLessThan(0.05)
  })

  test('gives a whole sound at once, filled to the length a model wants', async () => {
    const shape = [1, 'samples']
    const stage = {
      file: 'w.onnx',
      input: { name: 'wave', kind: 'samples', shape },
      output: { name: 'out', kind: 'samples', shape },
    }
    const graph: TinyGraph = {
      // One second at 16 kHz, filled to a multiple of 10,000: a model of another length would be refused.
      inputs: [{ name: 'wave', shape: [1, 20_000] }],
      outputs: [{ name: 'out', shape: [1, 20_000] }],
      constants: [{ name: 'half', shape: [1], values: [0.5] }],
      nodes: [{ op: 'Mul', inputs: ['wave', 'half'], output: 'out' }],
    }
    const output = await through(
      { sampleRate: 16_000, whole: { multipleSamples: 10_000 }, stages: [stage] },
      { 'w.onnx': graph },
    )
    expect(output).toHaveLength(noisy.length)
    const { gain, rest } = gainOf(output)
    expect(gain).toBeCloseTo(0.5, 2)
    expect(rest).toBeLessThan(0.05)
  })

  test('joins the pieces of what is longer than a model may be given', async () => {
    const halves = { stage: { input: { shape: [1, 'samples'] } }, reset: () => {}, run: async (v: Float32Array) => v }
    const sessions = [halves as unknown as OnnxSession]
    const model = { sampleRate: 8000, delaySamples: 0 } as unknown as OnnxModel
    const samples = Float32Array.from({ length: 8000 * 9 + 17 }, (_, i) => Math.sin(i))
    const joined = await wholeModel(sessions, model, { maxSec: 2, multipleSamples: 64 })(samples)
    expect(joined).toHaveLength(samples.length)
    expect(joined.findIndex((value, i) => Math.abs(value - (samples[i] ?? 0)) > 1e-6)).toBe(-1)
  })

  test('names the package where it is not installed', async () => {
    const missing = () => import(/* @vite-ignore */ `onnxruntime-web-${'missing'}`)
    await expect(loadOnnxRuntime(missing)).rejects.toMatchObject({
      code: 'ERR_ONNX_MISSING',
      exitCode: 2,
      remedies: [expect.stringMatching(/^npm install --prefix \S+ onnxruntime-web$/)],
    })
  })

  test('names a model file that is missing', async () => {
    const stage = {
      file: 'nowhere.onnx',
      input: { name: 'a', kind: 'samples', shape: ['samples'] },
      output: { name: 'b', kind: 'samples', shape: ['samples'] },
    }
    await expect(through({ sampleRate: 48_000, whole: {}, stages: [stage] }, {})).rejects.toMatchObject({
      code: 'ERR_ONNX_MODEL',
      message: expect.stringContaining('nowhere.onnx'),
    })
  })

  test('says what is wrong with a description, and where', async () => {
    await expect(through({ sampleRate: 44_100 }, {})).rejects.toMatchObject({ code: 'ERR_ONNX_MODEL', exitCode: 2 })
  })
})
