import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type FileEngine, type RunningService, startService } from '../../src/service/index.js'
import { apiClient } from './support/api-client.js'
import { fixtureVoice, plainEngine } from './support/engines.js'
import { nodeProcess } from './support/node-process.js'
import { freshFolder, requestToken, withService } from './support/with-service.js'

async function clientOf(node: Awaited<ReturnType<typeof nodeProcess>>) {
  const service = node.service as RunningService
  const form = { client_id: node.key.clientId, client_secret: node.key.clientSecret }
  const answer = await requestToken(service, { ...form, grant_type: 'client_credentials', scope: service.scope })
  return apiClient(service, ((await answer.json()) as { access_token: string }).access_token)
}

describe('accepted files', () => {
  it.each(process.env.VOXMUX_SOAK ? (['SIGKILL', 'SIGTERM'] as const) : (['SIGKILL'] as const))(
    'all end after %s in the middle of the work and a new start',
    async (signal) => {
      const dataDir = await freshFolder()
      const voice = await fixtureVoice()
      const first = await nodeProcess(dataDir, 'held')
      const client = await clientOf(first)
      const ids: string[] = []
      for (let index = 0; index < 5; index += 1) {
        const file = await client.register(`voice-${index}.wav`)
        await client.upload(file.file_upload_link, voice)
        await client.start(file.file_id)
        ids.push(file.file_id)
      }
      for (let busy = false; !busy; ) {
        busy = (await client.status(...ids)).some(({ status, progress }) => status === 'InProgress' && progress > 0)
        await delay(10)
      }
      const before = await client.status(...ids)
      // No more than two at once are in work; the rest wait.
      expect(before.filter(({ status }) => status === 'InProgress').length).toBeLessThanOrEqual(2)
      await first.kill(signal)

      const again = await apiClient(await withService({ dataDir, engine: plainEngine }))
      for (const [index, id] of ids.entries()) {
        const [now] = await again.status(id)
        expect(now?.progress).toBeGreaterThanOrEqual(before[index]?.progress ?? 0)
        expect(await again.ended(id)).toMatchObject({ status: 'Succeeded', progress: 100 })
        const { url } = await again.outputUrl(id)
        expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(voice)
      }
    },
  )

  it('that were interrupted keep their second attempt for a real fault', async () => {
    const dataDir = await freshFolder()
    let [begun, faults] = [0, 0]
    const clumsy = async (): Promise<FileEngine> => ({
      async processFile(request) {
        begun += 1
        if (begun <= 2) await delay(60_000, undefined, { signal: request.signal })
        faults += 1
        if (faults === 1) throw new Error('a real fault')
        return (await plainEngine()).processFile(request)
      },
    })
    const settings = { work: { attempts: 2, pollMs: 20 } }
    const first = await startService({ dataDir, engine: clumsy, settings })
    const client = await apiClient(first)
    const file = await client.register('voice.wav')
    await client.upload(file.file_upload_link, await fixtureVoice())
    await client.start(file.file_id)
    await expect.poll(() => begun, { timeout: 30_000 }).toBe(1)
    await first.close()
    const second = await startService({ dataDir, engine: clumsy, settings })
    await expect.poll(() => begun, { timeout: 30_000 }).toBe(2)
    await second.close()
    const third = await apiClient(await withService({ dataDir, engine: clumsy, settings }))
    expect(await third.ended(file.file_id)).toMatchObject({ status: 'Succeeded', errorCode: 0 })
    expect([begun, faults]).toEqual([4, 2])
  })

  it('that kill their node each time fail with -1 after a few crashes, and no other file with them', async () => {
    const dataDir = await freshFolder()
    const voice = await fixtureVoice()
    const serving = await apiClient(await withService({ dataDir, serveOnly: true }))
    const start = async (bytes: Buffer) => {
      const file = await serving.register('voice.wav')
      await serving.upload(file.file_upload_link, bytes)
      await serving.start(file.file_id)
      return file.file_id
    }
    const deadly = await start(Buffer.concat([voice, Buffer.from('deadly')]))
    const harmless = await Promise.all([start(voice), start(voice), start(voice)])
    let nodes = 0
    const everyEnd = Promise.all([deadly, ...harmless].map((id) => serving.ended(id)))
    const ended = everyEnd.then(() => true)
    for (let isOver = false; !isOver; nodes += 1) {
      const node = await nodeProcess(dataDir, 'mortal').catch(() => undefined)
      isOver = await Promise.race([ended, node?.gone.then(() => false) ?? false])
      if (isOver) await node?.kill('SIGTERM')
    }
    const [killer, ...others] = await everyEnd
    expect(killer).toMatchObject({ status: 'Failed', errorCode: -1 })
    expect(others.map(({ status }) => status)).toEqual(['Succeeded', 'Succeeded', 'Succeeded'])
    // Three crashes, and the start that counts the third.
    expect(nodes).toBe(4)
  }, 180_000)

  it('of a killed node are taken up by another of the same machine at once, whatever their lease', async () => {
    const dataDir = await freshFolder()
    const killed = await nodeProcess(dataDir, 'held', '', 3600_000)
    const serving = await apiClient(await withService({ dataDir, serveOnly: true }))
    const file = await serving.register('voice.wav')
    await serving.upload(file.file_upload_link, await fixtureVoice())
    await serving.start(file.file_id)
    await expect.poll(async () => (await serving.status(file.file_id))[0]?.progress, { timeout: 30_000 }).toBe(20)
    // It works on, and cannot take the file before its holder is gone.
    await withService({ dataDir, engine: plainEngine, settings: { work: { pollMs: 50, leaseMs: 3600_000 } } })
    await killed.kill('SIGKILL')
    expect(await serving.ended(file.file_id)).toMatchObject({ status: 'Succeeded', progress: 100 })
  })

  it('that nobody asks for any more do not hold up a node that works for one process', async () => {
    const dataDir = await freshFolder()
    const voice = await fixtureVoice()
    const settings = { work: { concurrency: 1, pollMs: 20 } }
    const begin = async (engine: () => Promise<FileEngine>) => {
      const service = await startService({ dataDir, engine, settings, askedOnly: true })
      const client = await apiClient(service)
      const file = await client.register('voice.wav')
      await client.upload(file.file_upload_link, voice)
      await client.start(file.file_id)
      return { service, client, id: file.file_id }
    }
    const endless = async (): Promise<FileEngine> => ({
      processFile: ({ signal }) => delay(60_000, undefined, { signal }).then(() => ({ extension: 'wav' })),
    })
    const given = await begin(endless)
    await given.service.close()
    const held: string[] = []
    const holding = async (): Promise<FileEngine> => ({
      async processFile(request) {
        held.push(request.input)
        return (await plainEngine()).processFile(request)
      },
    })
    const next = await begin(holding)
    expect(await next.client.ended(next.id)).toMatchObject({ status: 'Succeeded' })
    expect(held).toHaveLength(1)
    // A client that asks for the first file again gets it.
    expect(await next.client.ended(given.id)).toMatchObject({ status: 'Succeeded' })
    await next.service.close()
  })

  it('are shared by the nodes of a folder: one serves, another works', async () => {
    const dataDir = await freshFolder()
    const serving = await withService({ dataDir, serveOnly: true })
    const client = await apiClient(serving)
    const file = await client.register('voice.wav')
    await client.upload(file.file_upload_link, await fixtureVoice())
    await client.start(file.file_id)
    expect((await client.status(file.file_id))[0]?.status).toBe('Pending')
    const working = await withService({ dataDir, engine: plainEngine })
    expect(working.serviceId).toBe(serving.serviceId)
    expect((await client.ended(file.file_id)).status).toBe('Succeeded')
    expect((await fetch((await client.outputUrl(file.file_id)).url)).status).toBe(200)
  })
})
