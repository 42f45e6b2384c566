import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type FileEngine, openPortal, type RunningService } from '../../src/service/index.js'
import { describeOnPostgres, PostgresServer } from '../helpers/system/postgres-server.js'
import { CLI_PATH } from '../helpers/voxmux-cli.js'
import { type ApiClient, apiClient } from './support/api-client.js'
import { AZURITE, AZURITE_MISSING, withAzurite } from './support/azurite.js'
import { fixtureVoice, plainEngine } from './support/engines.js'
import { nodeProcess } from './support/node-process.js'
import { webhookReceiver } from './support/webhook-receiver.js'
import { freshFolder, requestToken, withService } from './support/with-service.js'

/** What the fixture lasts, in seconds. */
const VOICE_SEC = 3
const CREDITS_SEC = 1000

async function bearer(service: RunningService, key: { clientId: string; clientSecret: string }): Promise<string> {
  const form = { client_id: key.clientId, client_secret: key.clientSecret, grant_type: 'client_credentials' }
  const answer = await requestToken(service, { ...form, scope: service.scope })
  return ((await answer.json()) as { access_token: string }).access_token
}

/** Registers with one node, uploads, and starts with another. */
async function started(one: ApiClient, other: ApiClient, options: object = {}): Promise<string> {
  const file = await one.register('voice.wav')
  expect((await other.upload(file.file_upload_link, await fixtureVoice())).status).toBe(201)
  expect(await other.start(file.file_id, options)).toMatchObject({ error: null })
  return file.file_id
}

/** Ends with the exit code and what was said. */
async function voxmux(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [CLI_PATH, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: code as number, out, err }
}

describeOnPostgres('nodes over one store and one folder', (server) => {
  it('take over from one that is killed: each file charged once, its output there once, its end told', async () => {
    const store = server().newDatabase()
    const dataDir = await freshFolder()
    const receiver = await webhookReceiver()
    const portal = await openPortal({ store })
    const user = await portal.accounts.ensure('local')
    await portal.accounts.setCredits(user.id, CREDITS_SEC)
    const target = { url: receiver.url, method: 'POST', secretPosition: 'header', secret: null } as const
    await portal.webhooks.set(user.id, target)

    const [first, second] = await Promise.all([
      nodeProcess(dataDir, 'held', store),
      nodeProcess(dataDir, 'held', store),
    ])
    // A token of the first is good at the second.
    const token = await bearer(first.service as RunningService, first.key)
    const one = await apiClient(first.service as RunningService, token)
    const other = await apiClient(second.service as RunningService, token)
    const ids: string[] = []
    for (let index = 0; index < 8; index += 1)
      ids.push(
        await started(...((index % 2 ? [one, other] : [other, one]) as [ApiClient, ApiClient]), { webhook: true }),
      )
    const busy = async () =>
      (await other.status(...ids)).filter(({ status, progress }) => status === 'InProgress' && progress > 0).length
    // Each does two at once.
    while ((await busy()) < 4) await delay(5)
    await first.kill('SIGKILL')
    await writeFile(join(dataDir, 'go'), '')

    for (const id of ids) expect(await other.ended(id)).toMatchObject({ status: 'Succeeded', progress: 100 })
    expect((await portal.accounts.byId(user.id))?.creditsSec).toBeCloseTo(CREDITS_SEC - ids.length * VOICE_SEC, 1)
    const voice = await fixtureVoice()
    for (const id of ids) {
      const { url } = await other.outputUrl(id)
      expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(voice)
      expect((await readdir(join(dataDir, 'files', id.slice(0, 2), id))).sort()).toEqual(['input', 'output.wav'])
    }
    const told = (id: string) =>
      receiver.arrived.flatMap(({ event }) => (event.message.fileId === id ? [event.message.status] : []))
    await vi.waitFor(() => expect(ids.filter((id) => !told(id).includes('Processed'))).toEqual([]), {
      timeout: 60_000,
      interval: 50,
    })
    for (const id of ids) {
      const order = ['Ready', 'Queued', 'In Progress', 'Processed'].map((status) => told(id).indexOf(status as 'Ready'))
      expect(order).toEqual([...order].sort((a, b) => a - b))
      expect(Math.min(...order)).toBe(0)
    }
    await portal.close()
    await second.kill('SIGTERM')
  }, 180_000)

  it('take over from one that is frozen, who changes nothing when it goes on, and works again', async () => {
    const store = server().newDatabase()
    const dataDir = await freshFolder()
    const portal = await openPortal({ store })
    const user = await portal.accounts.ensure('local')
    await portal.accounts.setCredits(user.id, CREDITS_SEC)
    const frozen = await nodeProcess(dataDir, 'slow', store)
    const other = await apiClient(await withService({ dataDir, store, serveOnly: true }))
    const ids = [await started(other, other), await started(other, other)]
    while ((await other.status(...ids)).some(({ progress }) => progress === 0)) await delay(5)
    frozen.send('SIGSTOP')

    const second = await nodeProcess(dataDir, 'slow', store)
    for (const id of ids) expect(await other.ended(id)).toMatchObject({ status: 'Succeeded', progress: 100 })
    const outputs = () =>
      Promise.all(ids.map(async (id) => (await stat(join(dataDir, 'files', id.slice(0, 2), id, 'output.wav'))).mtimeMs))
    const before = await outputs()
    await second.kill('SIGTERM')
    frozen.send('SIGCONT')
    // It does what comes next, after what it held before.
    const next = await started(other, other)
    expect(await other.ended(next)).toMatchObject({ status: 'Succeeded' })
    expect(await outputs()).toEqual(before)
    for (const id of [...ids, next])
      await vi.waitFor(async () =>
        expect((await readdir(join(dataDir, 'files', id.slice(0, 2), id))).sort()).toEqual(['input', 'output.wav']),
      )
    expect((await portal.accounts.byId(user.id))?.creditsSec).toBeCloseTo(CREDITS_SEC - 3 * VOICE_SEC, 1)
    await portal.close()
  }, 120_000)

  it('answer 503 and when to ask again while PostgreSQL is away, and go on when it is back', async () => {
    const own = await PostgresServer.start()
    onTestFinished(() => own.stop())
    const dataDir = await freshFolder()
    const held = { release: () => {} }
    const isReleased = new Promise<void>((resolve) => {
      held.release = resolve
    })
    let begun = 0
    const heldEngine = async (): Promise<FileEngine> => {
      const plain = await plainEngine()
      return {
        async processFile(request) {
          begun += 1
          request.onProgress(20)
          await isReleased
          return plain.processFile(request)
        },
      }
    }
    const node = { dataDir, store: own.url, engine: heldEngine, settings: { work: { pollMs: 50 } } }
    const first = await withService({ ...node, serveOnly: true })
    const second = await withService(node)
    const one = await apiClient(first)
    const other = await apiClient(second, one.token)
    const portal = await openPortal({ store: own.url })
    const user = await portal.accounts.ensure('local')
    await portal.accounts.setCredits(user.id, CREDITS_SEC)
    const id = await started(one, other)
    const waiting = await one.register('later.wav')
    await vi.waitFor(() => expect(begun).toBe(1), { timeout: 30_000 })

    await own.kill()
    const refused = await Promise.all([
      one.post('registerFile', { file_to_register: { client_file_id: 'a.wav' } }),
      other.post('getFilesStatus', { fileIds: [id] }),
      fetch(waiting.file_upload_link, {
        method: 'PUT',
        headers: { 'x-ms-blob-type': 'BlockBlob' },
        body: new Uint8Array(await fixtureVoice()),
      }),
    ])
    expect(refused.map(({ status }) => status)).toEqual([503, 503, 503])
    for (const answer of refused) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused[0]?.json()).toMatchObject({ statusCode: 503, code: 'ERR_STORE_UNREACHABLE' })
    expect((await fetch(`${first.baseUrl}/api/v1/service-health/ping`)).status).toBe(200)
    // Its end is written as soon as there is somewhere to write it to.
    held.release()
    await delay(500)
    await own.start()

    const eventually = async (client: ApiClient) => {
      for (;;) {
        const answer = await client.post('getFilesStatus', { fileIds: [id] })
        if (answer.status === 200) return
        expect(answer.status).toBe(503)
      }
    }
    await Promise.all([eventually(one), eventually(other)])
    expect(await one.ended(id)).toMatchObject({ status: 'Succeeded' })
    expect((await one.upload(waiting.file_upload_link, await fixtureVoice())).status).toBe(201)
    expect(await other.start(waiting.file_id)).toMatchObject({ error: null })
    expect(await one.ended(waiting.file_id)).toMatchObject({ status: 'Succeeded' })
    expect((await portal.accounts.byId(user.id))?.creditsSec).toBeCloseTo(CREDITS_SEC - 2 * VOICE_SEC, 1)
    await portal.close()
    // A node ends, too, where nothing can be written any more.
    await own.kill()
    await Promise.all([first.close(), second.close()])
  }, 120_000)

  it('find what one accepted and did not queue because it died in between', async () => {
    const store = server().newDatabase()
    const dataDir = await freshFolder()
    const settings = { retention: { sweepMs: 100 }, work: { pollMs: 50 } }
    const client = await apiClient(await withService({ dataDir, store, engine: plainEngine, settings }))
    const file = await client.register('voice.wav')
    await client.upload(file.file_upload_link, await fixtureVoice())
    // As a node leaves it that dies right after it has accepted the start.
    const { openNodeStore } = await import('../../src/service/store/open-node-store.js')
    const dead = await openNodeStore({ store })
    const options = { webhook: false, webhookSecret: null, outputType: null }
    await dead.store.files.change(file.file_id, { kind: 'start', options })
    await dead.close()
    expect(await client.ended(file.file_id)).toMatchObject({ status: 'Succeeded' })
  }, 60_000)

  it('share keys and webhook settings that the portal makes, and refuse a password in the list of processes', async () => {
    const store = server().url
    const dataDir = await freshFolder()
    const [first, second] = [await withService({ dataDir, store }), await withService({ dataDir, store })]
    expect([second.serviceId, second.tenantId]).toEqual([first.serviceId, first.tenantId])
    const made = await voxmux(['portal', 'keys', 'create', '--name', 'ci', '--store', store, '--json'])
    expect(made.code).toBe(0)
    const [key] = made.out.split('\n').map((line) => JSON.parse(line || 'null'))
    const form = { client_id: key.client_id, client_secret: key.client_secret, grant_type: 'client_credentials' }
    for (const service of [first, second])
      expect((await requestToken(service, { ...form, scope: service.scope })).status).toBe(200)
    const revoked = await voxmux(['portal', 'keys', 'revoke', key.client_id, '--json'], { VOXMUX_STORE: store })
    expect(revoked.code).toBe(0)
    for (const service of [first, second])
      expect((await requestToken(service, { ...form, scope: service.scope })).status).toBe(401)

    const shown = await voxmux(['serve', '--json', '--store', 'postgres://me:hunter2@127.0.0.1:1', '--data', dataDir])
    expect([shown.code, shown.out]).toEqual([2, expect.stringContaining('ERR_STORE_PASSWORD_SHOWN')])
    expect(shown.out + shown.err).not.toContain('hunter2')
    const unnamed = await voxmux(['serve', '--json', '--store', store])
    expect([unnamed.code, unnamed.out]).toEqual([2, expect.stringContaining('ERR_DATA_NOT_NAMED')])
    const elsewhere = await voxmux(['serve', '--json', '--store', store, '--data', await freshFolder()])
    expect([elsewhere.code, elsewhere.out]).toEqual([2, expect.stringContaining('ERR_STORAGE_NOT_SHARED')])
  }, 120_000)

  it('take a password from the environment, and show it nowhere', async () => {
    const address = (password: string) => ({ VOXMUX_STORE: server().urlOf('voxmux', `locked:${password}`) })
    const right = await voxmux(['portal', 'show', '--json'], address('s3same'))
    const wrong = await voxmux(['portal', 'show', '--json'], address('s4same'))
    expect([right.code, wrong.code, wrong.out]).toEqual([0, 2, expect.stringContaining('ERR_STORE_REFUSED')])
    expect([right, wrong].map(({ out, err }) => /same/.test(out + err))).toEqual([false, false])
  }, 60_000)

  it.skipIf(!AZURITE)(
    `share Azure Blob Storage, each with a folder of its own${AZURITE ? '' : ` (${AZURITE_MISSING})`}`,
    async () => {
      const store = server().newDatabase()
      const azure = { connectionString: await withAzurite(await freshFolder()), container: 'voices' }
      const node = { store, azure, engine: plainEngine, settings: { work: { pollMs: 50 } } }
      const first = await withService({ ...node, serveOnly: true })
      const second = await withService({ ...node })
      expect(first.dataDir).not.toBe(second.dataDir)
      const one = await apiClient(first)
      const other = await apiClient(second, one.token)
      const id = await started(one, other)
      expect(await one.ended(id)).toMatchObject({ status: 'Succeeded' })
      const answer = await fetch((await one.outputUrl(id)).url)
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(await fixtureVoice())
      expect((await one.upload((await one.register('b.wav')).file_upload_link, 'b')).status).toBe(201)
      expect(await readdir(join(second.dataDir, 'work'))).toEqual([])
    },
    120_000,
  )
})
