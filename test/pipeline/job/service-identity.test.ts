import { mkdir, readdir } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { resolveConfig } from '../../../src/config/index.js'
import { openPipeline } from '../../../src/pipeline/job/open-pipeline.js'
import { jobBench } from '../../helpers/job-bench.js'

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
