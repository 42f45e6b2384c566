import { describe, expect, it, vi } from 'vitest'
import { JobFailedError } from '../../src/core/errors.js'
import { type FileEngine, openPortal, type RunningService, type WebhookTarget } from '../../src/service/index.js'
import { webhookRequest } from '../../src/service/webhooks/webhook-target.js'
import { apiClient } from './support/api-client.js'
import { fixtureVoice, plainEngine } from './support/engines.js'
import { type Arrived, webhookReceiver } from './support/webhook-receiver.js'
import { freshFolder, withService } from './support/with-service.js'

/** Waits as long as a loaded machine may need. */
const eventually = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 45_000, interval: 50 })

const settings = { webhooks: { baseDelayMs: 20, maxDelayMs: 50, pollMs: 20, attempts: 3 } }

async function setWebhook(dataDir: string, target: Partial<WebhookTarget> & { url: string }): Promise<void> {
  const portal = await openPortal({ dataDir })
  const user = await portal.accounts.ensure('local')
  await portal.webhooks.set(user.id, { method: 'POST', secretPosition: 'header', secret: null, ...target })
  await portal.close()
}

async function processed(service: RunningService, options: object) {
  const client = await apiClient(service)
  const { file_id, file_upload_link } = await client.register('voice.wav')
  await client.upload(file_upload_link, await fixtureVoice())
  await client.start(file_id, { webhook: true, ...options })
  return client.ended(file_id)
}

const told = (arrived: readonly Arrived[]) =>
  arrived.map(({ event }) => [event.type, event.message.status, event.message.progress, event.message.errorCode])

const GOOD = [
  ['status-updated', 'Ready', 0, 0],
  ['status-updated', 'Queued', 0, 0],
  ['status-updated', 'In Progress', 0, 0],
  ['progress-updated', 'In Progress', 99, 0],
  ['status-updated', 'Processed', 100, 0],
]

describe('webhooks', () => {
  it.each(['POST', 'PUT', 'GET'] as const)('tell a file’s life in order by %s', async (method) => {
    const receiver = await webhookReceiver()
    const service = await withService({ engine: plainEngine, settings, allowPrivateUrls: true })
    await setWebhook(service.dataDir, { url: `${receiver.url}/hook?mine=1`, method })
    const { id } = await processed(service, {})
    await eventually(() => expect(told(receiver.arrived)).toEqual(GOOD))
    for (const { event, query } of receiver.arrived) {
      expect(event.message.fileId).toBe(id)
      expect(query.mine).toBe('1')
    }
    expect(new Set(receiver.arrived.map((arrived) => arrived.method))).toEqual(new Set([method]))
  })

  it('are not sent unless asked for', async () => {
    const receiver = await webhookReceiver()
    const service = await withService({ engine: plainEngine, settings, allowPrivateUrls: true })
    await setWebhook(service.dataDir, { url: receiver.url })
    await processed(service, { webhook: false })
    await processed(service, {})
    await eventually(() => expect(receiver.arrived).toHaveLength(GOOD.length))
  })

  it.each([
    [-2, "Didn't Pass Validation"],
    [-12, 'Retry Needed'],
    [-17, 'Failed-Not-Deleted'],
  ])('tell a failure with %i as %s, once as an error', async (errorCode, status) => {
    const receiver = await webhookReceiver()
    const engine = async (): Promise<FileEngine> => ({
      async processFile() {
        throw new JobFailedError('ERR_TEST', 'On purpose.', { errorCode })
      },
    })
    const service = await withService({ engine, settings, allowPrivateUrls: true })
    await setWebhook(service.dataDir, { url: receiver.url })
    await processed(service, {})
    await eventually(() =>
      expect(told(receiver.arrived).slice(-2)).toEqual([
        ['status-updated', status, 0, errorCode],
        ['error-updated', status, 0, errorCode],
      ]),
    )
  })

  it('are tried again, in order, until they are acknowledged or given up, and all that is in the log', async () => {
    const receiver = await webhookReceiver((index) => (index === 0 ? 500 : index >= 2 && index <= 4 ? 503 : 200))
    const service = await withService({ engine: plainEngine, settings, allowPrivateUrls: true })
    await setWebhook(service.dataDir, { url: receiver.url })
    await processed(service, {})
    const [ready, queued, begun, progress, done] = GOOD
    const expected = [ready, ready, queued, queued, queued, begun, progress, done]
    await eventually(() => expect(told(receiver.arrived)).toEqual(expected))
    const portal = await openPortal({ dataDir: service.dataDir })
    const outcomes = async () =>
      (await portal.deliveries.latest(50)).map(({ outcome, attempt }) => `${outcome} ${attempt}`)
    await eventually(async () =>
      expect((await outcomes()).reverse()).toEqual([
        'failed 1',
        'delivered 2',
        'failed 1',
        'failed 2',
        'given-up 3',
        'delivered 1',
        'delivered 1',
        'delivered 1',
      ]),
    )
    await portal.close()
  })

  it('outlive the node that queued them', async () => {
    const receiver = await webhookReceiver()
    const dataDir = await freshFolder()
    const slow = { webhooks: { ...settings.webhooks, pollMs: 3_600_000 } }
    const first = await withService({ dataDir, engine: plainEngine, settings: slow, allowPrivateUrls: true })
    await setWebhook(dataDir, { url: receiver.url })
    await processed(first, {})
    await first.close()
    expect(receiver.arrived).toEqual([])
    await withService({ dataDir, engine: plainEngine, settings, allowPrivateUrls: true })
    await eventually(() => expect(told(receiver.arrived)).toEqual(GOOD))
  })

  it('never reach loopback, unless private addresses are allowed', async () => {
    const receiver = await webhookReceiver()
    const service = await withService({ engine: plainEngine, settings })
    await setWebhook(service.dataDir, { url: receiver.url })
    await processed(service, {})
    const portal = await openPortal({ dataDir: service.dataDir })
    await eventually(async () =>
      expect((await portal.deliveries.latest(9)).map(({ outcome }) => outcome)).toEqual(Array(5).fill('given-up')),
    )
    await portal.close()
    expect(receiver.arrived).toEqual([])
    await service.close()
    const trusting = await withService({
      ...{ dataDir: service.dataDir, engine: plainEngine, settings, allowPrivateUrls: true },
    })
    await processed(trusting, {})
    await eventually(() => expect(told(receiver.arrived)).toEqual(GOOD))
  })

  it('carry startProcess’s secret rather than the portal’s', async () => {
    const receiver = await webhookReceiver()
    const service = await withService({ engine: plainEngine, settings, allowPrivateUrls: true })
    await setWebhook(service.dataDir, { url: receiver.url, secret: 'portal' })
    const beyondAscii = 's\u00e9cret \u2603'
    const given = ['start', undefined, '', beyondAscii]
    for (const webhook_secret of given) await processed(service, { webhook_secret })
    await eventually(() => expect(receiver.arrived).toHaveLength(given.length * GOOD.length))
    const inUtf8 = (header = '') => Buffer.from(header, 'latin1').toString('utf8')
    const secrets = new Set(receiver.arrived.map(({ headers }) => inUtf8(headers.authorization)))
    expect(secrets).toEqual(new Set(['Bearer start', 'Bearer portal', `Bearer ${beyondAscii}`]))
  })
})

describe('the place of the secret', () => {
  const body = {
    userId: 'u',
    type: 'status-updated',
    message: { fileId: 'f', status: 'Ready', progress: 0, errorCode: 0 },
  } as const
  const place = (method: 'POST' | 'PUT' | 'GET', secretPosition: 'header' | 'query' | 'body') => {
    const target = { url: 'https://example.com/hook', method, secretPosition, secret: null }
    const request = webhookRequest(target, body, 's3cret')
    return {
      header: request.headers.authorization,
      query: request.url.searchParams.get('secret'),
      body: request.body ? (JSON.parse(request.body) as { secret?: string }).secret : undefined,
    }
  }
  const none = { header: undefined, query: null, body: undefined }
  it.each([
    ['POST', 'header', { ...none, header: 'Bearer s3cret' }],
    ['PUT', 'header', { ...none, header: 'Bearer s3cret' }],
    ['GET', 'header', { ...none, header: 'Bearer s3cret' }],
    ['POST', 'query', { ...none, query: 's3cret' }],
    ['PUT', 'query', { ...none, query: 's3cret' }],
    ['GET', 'query', { ...none, query: 's3cret' }],
    ['POST', 'body', { ...none, body: 's3cret' }],
    ['PUT', 'body', { ...none, body: 's3cret' }],
  ] as const)('%s %s', (method, position, expected) => {
    expect(place(method, position)).toEqual(expected)
  })

  it('and the message are encoded for any decoder, and the rest of the address stays as it is', () => {
    const url = 'https://example.com/hook?sig=a%20b+c%2F&secret=old'
    const target = { url, method: 'GET', secretPosition: 'query', secret: null } as const
    const told = { ...body, message: { ...body.message, status: 'In Progress' } } as const
    const { search } = webhookRequest({ ...target, url: url.replace('&secret=old', '') }, told, 'a +&').url
    expect(search).toMatch(/^\?sig=a%20b\+c%2F&secret=a%20%2B%26&userId=u&type=status-updated&message=%7B/)
    expect(search).toContain('In%20Progress')
    // Names of ours in the address give way to ours; what is beside them keeps its encoding.
    const own = 'https://example.com/hook?userId=me&a=b%20c+d&secret=old&type=x&message=&%73ecret=older'
    const replaced = webhookRequest({ ...target, url: own }, told, 'two words').url
    expect(replaced.search).toMatch(/^\?a=b%20c\+d&secret=two%20words&userId=u&type=status-updated&message=%7B/)
    expect(replaced.searchParams.getAll('secret')).toEqual(['two words'])
  })

  it('cannot be the body of a GET', async () => {
    const dataDir = await freshFolder()
    await expect(
      setWebhook(dataDir, { url: 'https://a.example', method: 'GET', secretPosition: 'body' }),
    ).rejects.toThrow(/no body/)
    await expect(setWebhook(dataDir, { url: 'ftp://a.example' })).rejects.toThrow(/http/)
  })
})
