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
