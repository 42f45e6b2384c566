import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { resolveConfig } from '../../../src/config/index.js'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { openRuntime } from '../../../src/runtime/open-runtime.js'
import { fixture } from '../../helpers/job-bench.js'
import { tinyOnnx } from '../../helpers/sound/tiny-onnx.js'
import { folderOfEachTest } from '../../helpers/system/folder-of-tests.js'
import { requestFor } from '../../helpers/test-pipeline.js'

const folder = folderOfEachTest()

/** A model that multiplies every sample, under the same names each time. */
async function writeModel(factor: number): Promise<string> {
  const shape = [1, 480]
  const graph = tinyOnnx({
    inputs: [{ name: 'in', shape }],
    outputs: [{ name: 'out', shape }],
    constants: [{ name: 'factor', shape: [1], values: [factor] }],
    nodes: [{ op: 'Mul', inputs: ['in', 'factor'], output: 'out' }],
  })
  const sound = (name: string) => ({ name, kind: 'samples', shape: [1, 'samples'] })
  const stages = [{ file: 'model.onnx', input: sound('in'), output: sound('out') }]
  const description = { sampleRate: 48_000, frame: { size: 480, hop: 480, window: 'rectangular' }, stages }
  await writeFile(folder.file('model.onnx'), graph)
  await writeFile(folder.file('model.json'), JSON.stringify(description))
  return folder.file('model.json')
}

/** Seconds, and by how many dB the output is quieter. */
async function run(engine: string | undefined) {
  const folders = { config: null, data: folder.path, cache: folder.path }
  const flags = { stateDir: folder.file('state'), ...(engine !== undefined && { engine }) }
  const config = await resolveConfig({ cwd: folder.path, env: {}, flags, folders: folders as never })
  const runtime = await openRuntime(config)
  try {
    const request = requestFor(fixture('speech.wav'), { output: folder.file('out.wav'), force: true })
    const { receipt, error } = await runJob(request, runtime.context)
    if (error) throw error
    return receipt?.voices[0]
  } finally {
    await runtime.close()
  }
}

describe('engine in the configuration', () => {
  it('is used by the embedded service, and is part of the key of the cache', async () => {
    const half = await run(await writeModel(0.5))
    expect(half?.removedDb).toBeCloseTo(6, 0)
    expect((await run(folder.file('model.json')))?.cached).toBe(true)
    const quarter = await run(await writeModel(0.25))
    expect(quarter).toMatchObject({ cached: false })
    expect(quarter?.removedDb).toBeCloseTo(12, 0)
    if (process.env.VOXMUX_SOAK) expect(await run(undefined)).toMatchObject({ cached: false })
  }, 120_000)

  it('names a file that the description names and that is missing', async () => {
    const engine = await writeModel(1)
    const description = { sampleRate: 48_000, whole: {}, stages: [] as object[] }
    const sound = (name: string) => ({ name, kind: 'samples', shape: [1, 'samples'] })
    description.stages.push({ file: 'gone.onnx', input: sound('in'), output: sound('out') })
    await writeFile(engine, JSON.stringify(description))
    await expect(run(engine)).rejects.toMatchObject({ code: 'ERR_ONNX_MODEL', exitCode: 2 })
  })
})
