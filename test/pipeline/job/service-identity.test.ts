import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { resolveConfig } from '../../../src/config/index.js'
import { openPipeline } from '../../../src/pipeline/job/open-pipeline.js'
import { runJobs } from '../../../src/pipeline/job/run-jobs.js'
import { jobBench } from '../../helpers/job-bench.js'
import { requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()

async function identityOf(variables: Readonly<Record<string, string>>): Promise<string> {
  const env = { ...bench.server.env, VOXMUX_STATE_DIR: bench.folder.file('state'), ...variables }
  const config = await resolveConfig({ cwd: bench.folder.path, env })
  const pipeline = await openPipeline(config, { startEmbedded: () => expect.unreachable('the service is remote') })
  await pipeline.close()
  return pipeline.context.serviceIdentity
}

it('a service is the same however its address is written, so no voice is paid for again', async () => {
  const same = ['https://api.example.com', 'https://api.example.com/', 'HTTPS://API.Example.com:443']
  const other = ['https://api.example.com/v2', 'https://api.example.com:8443', 'https://api.example.org']
  const identities = async (addresses: readonly string[]) => {
    const found: string[] = []
    for (const address of addresses) found.push(await identityOf({ VOXMUX_BASE_URL: address }))
    return new Set(found)
  }
  expect((await identities(same)).size).toBe(1)
  expect((await identities([...same, ...other])).size).toBe(4)
})

it.each([
  { engines: [null, null], ended: ['done', 'skipped'] },
  { engines: [null, 'own.json'], ended: ['done', 'failed'] },
])('an output of the same embedded engine is known to a new state folder: $engines', async ({ engines, ended }) => {
  const { folder, server } = bench
  const input = await bench.take('speech.wav')
  const sound = { name: 'sound', kind: 'samples', shape: [1, 'samples'] }
  const stages = [{ file: 'own.onnx', input: sound, output: sound }]
  await writeFile(folder.file('own.json'), JSON.stringify({ sampleRate: 48_000, whole: {}, stages }))
  await writeFile(folder.file('own.onnx'), 'a model')
  const startEmbedded = async () => ({
    ...{ access: server.clientOptions, onFileEnd: () => {}, onDiskFault: () => {}, close: async () => {} },
  })
  const statuses: (string | undefined)[] = []
  for (const [turn, engine] of engines.entries()) {
    const config = await resolveConfig({ cwd: folder.path, env: { VOXMUX_STATE_DIR: folder.file(`state-${turn}`) } })
    const own = engine === null ? {} : { engine: folder.file(engine) }
    const { context, close } = await openPipeline({ ...config, ...own }, { startEmbedded })
    const [outcome] = await runJobs([requestFor(input)], context, { concurrency: 1 })
    statuses.push(outcome?.event.status)
    await close()
  }
  expect([statuses, server.calls.startProcess]).toEqual([ended, 1])
})

it('a pipeline that finds no identity leaves no ledger open', async () => {
  const stateDir = bench.folder.file('state-of-its-own')
  await mkdir(`${stateDir}/identity`, { recursive: true, mode: 0o700 })
  const config = await resolveConfig({ cwd: bench.folder.path, env: { VOXMUX_STATE_DIR: stateDir } })
  await expect(openPipeline(config, { startEmbedded: () => expect.unreachable() })).rejects.toThrow('EISDIR')
  expect(await readdir(stateDir)).toEqual(['identity'])
})

it('a pipeline whose service does not close closes its ledger all the same', async () => {
  const env = { VOXMUX_STATE_DIR: bench.folder.file('state-of-its-own') }
  const config = await resolveConfig({ cwd: bench.folder.path, env })
  const startEmbedded = async () => ({
    access: bench.server.clientOptions,
    onFileEnd: () => {},
    onDiskFault: () => {},
    close: () => Promise.reject(new Error('it does not end')),
  })
  const { context, close } = await openPipeline(config, { startEmbedded })
  await context.client()
  await expect(close()).rejects.toThrow('it does not end')
  await expect(context.jobs.pauses()).rejects.toThrow()
})
