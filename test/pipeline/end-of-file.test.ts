import { once } from 'node:events'
import { copyFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resolveConfig } from '../../src/config/index.js'
import { openPipeline } from '../../src/pipeline/job/open-pipeline.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import {
  type FileEngine,
  openPortal,
  type RunningService,
  type ServiceOptions,
  startService,
} from '../../src/service/index.js'
import { fixture } from '../helpers/job-bench.js'
import { type TestFolder, testFolder } from '../helpers/media-factory.js'
import { freePort } from '../helpers/system/free-port.js'
import { requestFor } from '../helpers/test-pipeline.js'

/** Questions an hour apart: whoever hears of the end of a file did not hear it by asking. */
const HOUR_MS = 3_600_000
const RARELY = { polling: { minMs: HOUR_MS, maxMs: HOUR_MS, hookedMs: HOUR_MS } }

let folder: TestFolder
let ended: (() => Promise<void>)[]

beforeEach(async () => {
  folder = await testFolder()
  ended = []
})
afterEach(async () => {
  for (const end of ended.reverse()) await end()
  await folder.remove()
})

/** A service whose engine works on no file before it is released. */
async function heldService(
  options: Partial<ServiceOptions> = {},
): Promise<{ service: RunningService; release: () => void }> {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const engine = async (): Promise<FileEngine> => ({
    async processFile({ input, output }) {
      await released
      await copyFile(input, output)
      return { extension: 'flac' }
    },
  })
  const service = await startService({ ...options, dataDir: folder.file('service'), engine })
  return { service, release }
}

async function accessTo(service: RunningService) {
  const { baseUrl, authUrl, tenantId, scope } = service
  return { baseUrl, authUrl, tenantId, scope, ...(await service.createKey('test')) }
}

async function environmentOf(service: RunningService): Promise<Record<string, string>> {
  const access = await accessTo(service)
  return {
    VOXMUX_BASE_URL: access.baseUrl,
    VOXMUX_AUTH_URL: access.authUrl,
    VOXMUX_TENANT_ID: access.tenantId,
    VOXMUX_CLIENT_ID: access.clientId,
    VOXMUX_CLIENT_SECRET: access.clientSecret,
    VOXMUX_SCOPE: access.scope,
  }
}

async function configOf(env: NodeJS.ProcessEnv) {
  const state = { VOXMUX_STATE_DIR: folder.file('state') }
  return resolveConfig({ cwd: folder.file(''), env: { ...env, ...state }, folders: { config: null, data: null } })
}

/** Runs a job; the service may go on only when its client has asked, and will not ask again. */
async function runReleasedByFirstAnswer(pipeline: Awaited<ReturnType<typeof openPipeline>>, release: () => void) {
  await copyFile(fixture('speech.wav'), folder.file('speech.wav'))
  return runJob(requestFor(folder.file('speech.wav')), pipeline.context, {
    onEvent: (event) => {
      if (event.event === 'progress' && event.stage === 'process') release()
    },
  })
}

describe('a run hears of the end of its file', () => {
  it('by a webhook of a remote service, with the secret of its own start', async () => {
    const { service, release } = await heldService({ allowPrivateUrls: true })
    ended.push(() => service.close())
    const listen = `127.0.0.1:${await freePort()}`
    const portal = await openPortal({ dataDir: folder.file('service') })
    ended.push(() => portal.close())
    const target = { url: `http://${listen}/`, method: 'POST', secretPosition: 'header', secret: 'another' } as const
    await portal.webhooks.set((await portal.accounts.ensure('local')).id, target)
    const config = await configOf({
      ...(await environmentOf(service)),
      VOXMUX_WEBHOOK_LISTEN: listen,
    })
    const startEmbedded = async () => expect.unreachable('the service is remote')
    const pipeline = await openPipeline(config, { startEmbedded, client: RARELY })
    ended.push(() => pipeline.close())
    const { event } = await runReleasedByFirstAnswer(pipeline, release)
    expect(event).toMatchObject({ status: 'done', error: null })
    const outcomes = (await portal.deliveries.latest(50)).map(({ outcome }) => outcome)
    expect(new Set(outcomes)).toEqual(new Set(['delivered']))
  })

  it('from the embedded service at once, whose webhooks stay as the person set them', async () => {
    const { service, release } = await heldService()
    const { onFileEnd, onDiskFault } = service
    const startEmbedded = async () => ({
      access: await accessTo(service),
      onFileEnd,
      onDiskFault,
      close: () => service.close(),
    })
    const pipeline = await openPipeline(await configOf({}), { startEmbedded, client: RARELY })
    ended.push(() => pipeline.close())
    const { event } = await runReleasedByFirstAnswer(pipeline, release)
    expect(event).toMatchObject({ status: 'done', error: null })
    const portal = await openPortal({ dataDir: folder.file('service') })
    ended.push(() => portal.close())
    expect(await portal.webhooks.of((await portal.accounts.ensure('local')).id)).toBeUndefined()
  })

  it('by asking, where another process receives at the address', async () => {
    const { service, release } = await heldService()
    ended.push(() => service.close())
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    ended.push(async () => void other.close())
    const config = await configOf({
      ...(await environmentOf(service)),
      VOXMUX_WEBHOOK_LISTEN: `127.0.0.1:${(other.address() as AddressInfo).port}`,
    })
    const startEmbedded = async () => expect.unreachable('the service is remote')
    const pipeline = await openPipeline(config, { startEmbedded })
    ended.push(() => pipeline.close())
    expect((await runReleasedByFirstAnswer(pipeline, release)).event).toMatchObject({ status: 'done' })
  })
})
