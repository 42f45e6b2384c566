import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type FileEngine, startService } from '../../src/service/index.js'
import { apiClient } from './support/api-client.js'
import { fixtureVoice, plainEngine } from './support/engines.js'
import { freshFolder, withService } from './support/with-service.js'

async function finished(retention: object) {
  const service = await withService({ engine: plainEngine, settings: { retention: { sweepMs: 50, ...retention } } })
  const client = await apiClient(service)
  const { file_id, file_upload_link } = await client.register('voice.wav')
  await client.upload(file_upload_link, await fixtureVoice())
  const folder = join(service.dataDir, 'files', file_id.slice(0, 2), file_id)
  return { client, file_id, folder }
}

async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await check())) await delay(50)
}

describe('retention', () => {
  it('deletes inputs, and keeps outputs as long as they are to be kept', async () => {
    const { client, file_id, folder } = await finished({ inputSec: 0.1 })
    await client.start(file_id)
    await client.ended(file_id)
    await until(() => !existsSync(join(folder, 'input')))
    expect(await readdir(folder)).toEqual(['output.wav'])
    expect((await fetch((await client.outputUrl(file_id)).url)).status).toBe(200)
  })

  it('deletes outputs, after which the file is not found', async () => {
    const { client, file_id, folder } = await finished({ inputSec: 0.1, outputSec: 0.2 })
    await client.start(file_id)
    await client.ended(file_id)
    await until(() => !existsSync(folder))
    expect((await client.post('getOutputFileUrl', { fileId: file_id })).status).toBe(404)
    const entry = { id: file_id, status: 'NotFound', errorCode: -11, progress: 0 }
    expect(await client.status(file_id)).toEqual([entry])
    const again = { file_id, options: { model: 'regen_v1' } }
    expect((await client.post('startProcess', again)).status).toBe(404)
  })

  it('forgets files that were never started', async () => {
    const { client, file_id, folder } = await finished({ unusedSec: 3 })
    await until(async () => (await client.status(file_id))[0]?.status === 'NotFound')
    await until(() => !existsSync(join(folder, 'input')))
  })

  it('forgets files that a process started for itself and gave up', async () => {
    const dataDir = await freshFolder()
    const engine = async (): Promise<FileEngine> => ({
      processFile: ({ signal }) => delay(60_000, undefined, { signal }).then(() => ({ extension: 'wav' })),
    })
    const settings = { retention: { sweepMs: 50, outputSec: 0.2 } }
    const first = await startService({ dataDir, engine, settings, askedOnly: true })
    const { register, upload, start, status } = await apiClient(first)
    const { file_id, file_upload_link } = await register('voice.wav')
    await upload(file_upload_link, await fixtureVoice())
    await start(file_id)
    await until(async () => (await status(file_id))[0]?.status === 'InProgress')
    const folder = join(dataDir, 'files', file_id.slice(0, 2), file_id)
    const next = await startService({ dataDir, engine, settings, askedOnly: true })
    await delay(500)
    expect((await status(file_id))[0]?.status).toBe('InProgress')
    await first.close()
    await until(() => !existsSync(join(folder, 'input')))
    expect((await (await apiClient(next)).status(file_id))[0]?.status).toBe('NotFound')
    await next.close()
  })
})

describe('a fault of the engine', () => {
  const failing = (times: number, calls: { count: number }) => async (): Promise<FileEngine> => {
    const plain = await plainEngine()
    return {
      async processFile(request) {
        calls.count += 1
        if (calls.count <= times) throw new Error('crashed')
        return plain.processFile(request)
      },
    }
  }

  async function run(times: number, timeoutMs = 60_000) {
    const calls = { count: 0 }
    const service = await withService({ engine: failing(times, calls), settings: { work: { timeoutMs, pollMs: 50 } } })
    const client = await apiClient(service)
    const { file_id, file_upload_link } = await client.register('voice.wav')
    await client.upload(file_upload_link, await fixtureVoice())
    await client.start(file_id)
    return { client, calls, entry: await client.ended(file_id) }
  }

  it('is tried once more, and is -1 when it stays', async () => {
    expect((await run(1)).entry.status).toBe('Succeeded')
    const twice = await run(2)
    expect([twice.entry.errorCode, twice.calls.count]).toEqual([-1, 2])
    // "Retry Needed": the same file may be started again.
    await twice.client.start(twice.entry.id)
    await until(async () => (await twice.client.ended(twice.entry.id)).status === 'Succeeded')
  })

  it('is -12 when it takes too long', async () => {
    const hanging = async (): Promise<FileEngine> => ({
      processFile: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
    })
    const service = await withService({ engine: hanging, settings: { work: { timeoutMs: 500 } } })
    const client = await apiClient(service)
    const { file_id, file_upload_link } = await client.register('voice.wav')
    await client.upload(file_upload_link, await fixtureVoice())
    await client.start(file_id)
    expect(await client.ended(file_id)).toMatchObject({ status: 'Failed', errorCode: -12 })
  })
})
