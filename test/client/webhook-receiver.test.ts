import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished } from 'vitest'
import { createWebhookReceiver, type WebhookReceiverOptions } from '../../src/client/index.js'
import { DeliveryOrder } from '../../src/client/webhooks/delivery-order.js'
import type { WebhookBody, WebhookMessage } from '../../src/contract/index.js'
import { test } from './harness.js'

const SECRET = 'the webhook secret'

function event(fields: Partial<WebhookMessage> = {}): WebhookBody {
  const message: WebhookMessage = { fileId: 'f', status: 'In Progress', progress: 10, errorCode: 0, ...fields }
  return { userId: 'u', type: 'progress-updated', message }
}

async function receiver(options: WebhookReceiverOptions = {}) {
  const events: WebhookBody[] = []
  const pokes: [string, string | undefined][] = []
  const opened = createWebhookReceiver({
    onEvent: (received) => void events.push(received),
    wakes: { notify: (fileId, status) => void pokes.push([fileId, status?.status]) },
    ...options,
  })
  const { url } = await opened.listen()
  onTestFinished(() => opened.close())
  const send = async (method: string, body: WebhookBody | string, headers: Record<string, string> = {}, query = '') => {
    const init = { method, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }
    return (await fetch(`${url}${query}`, init)).status
  }
  const get = async (body: WebhookBody, headers: Record<string, string> = {}, secret?: string) => {
    const { userId, type, message } = body
    const query = new URLSearchParams({ userId, type, message: JSON.stringify(message), ...(secret ? { secret } : {}) })
    return (await fetch(`${url}?${query}`, { headers })).status
  }
  return { url, events, pokes, send, get }
}

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
const inQuery = (secret: string) => `?${new URLSearchParams({ secret })}`

describe('the webhook receiver', () => {
  test.for(['POST', 'PUT'])('takes %s with the secret in header, query or body', async (method) => {
    const { events, send } = await receiver({ secret: SECRET })
    expect(await send(method, event({ progress: 1 }), bearer(SECRET))).toBe(204)
    expect(await send(method, event({ progress: 2 }), {}, inQuery(SECRET))).toBe(204)
    expect(await send(method, { ...event({ progress: 3 }), secret: SECRET })).toBe(204)
    expect(events).toEqual([1, 2, 3].map((progress) => event({ progress })))
  })

  test('takes GET with the secret in header or query', async () => {
    const { events, get } = await receiver({ secret: SECRET })
    expect(await get(event({ progress: 1 }), bearer(SECRET))).toBe(204)
    expect(await get(event({ progress: 2 }), {}, SECRET)).toBe(204)
    expect(events).toEqual([1, 2].map((progress) => event({ progress })))
  })

  test('takes a secret beyond ASCII in the header, as its UTF-8 or one byte a character', async () => {
    const { send } = await receiver({ secret: 's\u00e9cret' })
    expect(await send('POST', event({ progress: 1 }), bearer('s\u00c3\u00a9cret'))).toBe(204)
    expect(await send('POST', event({ progress: 2 }), bearer('s\u00e9cret'))).toBe(204)
    expect(await send('POST', event({ progress: 3 }), bearer('secret'))).toBe(401)
  })

  test.for(['', 'the webhook secreT', `${SECRET}!`, 'x'.repeat(2000)])(
    'refuses the secret %j everywhere',
    async (wrong) => {
      const { events, send, get } = await receiver({ secret: SECRET })
      expect(await send('POST', event(), bearer(wrong))).toBe(401)
      expect(await send('POST', event(), {}, inQuery(wrong))).toBe(401)
      expect(await send('PUT', { ...event(), secret: wrong })).toBe(401)
      expect(await get(event(), bearer(wrong))).toBe(401)
      expect(await get(event(), {}, wrong)).toBe(401)
      expect(await send('POST', event())).toBe(401)
      expect(await get(event())).toBe(401)
      expect(events).toEqual([])
    },
  )

  test.for(['header', 'query', 'body'] as const)(
    'believes the secret in the %s alone where told so',
    async (position) => {
      const { events, send } = await receiver({ secret: SECRET, secretPosition: position })
      expect(await send('POST', event(), bearer(SECRET))).toBe(position === 'header' ? 204 : 401)
      expect(await send('POST', event(), {}, inQuery(SECRET))).toBe(position === 'query' ? 204 : 401)
      expect(await send('POST', { ...event(), secret: SECRET })).toBe(position === 'body' ? 204 : 401)
      expect(events).toHaveLength(1)
    },
  )

  test('without a secret believes all', async () => {
    const { send } = await receiver()
    expect(await send('POST', event())).toBe(204)
  })

  test.for([
    ['not JSON', '{'],
    ['JSON of no object', '7'],
    ['another shape', '{"userId":"u"}'],
    ['a status of another list', JSON.stringify({ ...event(), message: { ...event().message, status: 'Succeeded' } })],
  ] as const)('refuses %s', async ([, body]) => {
    const { events, send } = await receiver({ secret: SECRET })
    expect(await send('POST', body, bearer(SECRET))).toBe(400)
    expect(events).toEqual([])
  })

  test('refuses other methods, and a GET without a message', async () => {
    const { url, send } = await receiver()
    expect(await send('DELETE', event())).toBe(405)
    expect((await fetch(url)).status).toBe(400)
    // A path that is no address of its own.
    expect((await fetch(`${url}/`)).status).toBe(400)
  })

  test.for(['announced', 'chunked'] as const)('reads no more than the bound of a body (%s)', async (kind) => {
    const { url, events } = await receiver({ maxBodyBytes: 1000 })
    const text = JSON.stringify({ ...event(), secret: 'x'.repeat(5000) })
    const body = kind === 'announced' ? text : new Blob([text]).stream()
    // Closed in mid-body, a client may see the break before the answer.
    const status = await fetch(url, { method: 'POST', body, duplex: 'half' } as RequestInit).then(
      (response) => response.status,
      () => 413,
    )
    expect(status).toBe(413)
    expect(events).toEqual([])
  })

  test('acknowledges what comes twice or late, and passes it on once', async () => {
    const { events, pokes, send } = await receiver()
    const sent: Partial<WebhookMessage>[] = [
      { status: 'Queued', progress: 0 },
      { progress: 50 },
      { progress: 50 },
      { progress: 20 },
      { status: 'Queued', progress: 0 },
      { status: 'Processed', progress: 100 },
      { status: 'Processed', progress: 100 },
      { progress: 90 },
      { status: 'Failed-Not-Deleted', errorCode: -1 },
    ]
    for (const fields of sent) expect(await send('POST', event(fields))).toBe(204)
    expect(events.map(({ message }) => `${message.status} ${message.progress}`)).toEqual([
      'Queued 0',
      'In Progress 50',
      'Processed 100',
    ])
    expect(pokes).toEqual([
      ['f', 'Pending'],
      ['f', 'InProgress'],
      ['f', undefined],
    ])
  })

  test('the same at the same time is passed on once', async () => {
    const { events, send } = await receiver()
    const sent = Array.from({ length: 8 }, () => send('POST', event({ status: 'Processed', progress: 100 })))
    expect(new Set(await Promise.all(sent))).toEqual(new Set([204]))
    expect(events).toHaveLength(1)
  })

  test('has it sent again where the listener failed', async () => {
    let failures = 1
    const onEvent = () => {
      if (failures-- > 0) throw new Error('not now')
    }
    const { pokes, send } = await receiver({ onEvent })
    expect(await send('POST', event())).toBe(500)
    expect(await send('POST', event())).toBe(204)
    expect(pokes).toHaveLength(1)
  })

  test('works on a server of one’s own', async () => {
    const events: WebhookBody[] = []
    const { handle } = createWebhookReceiver({ onEvent: (received) => void events.push(received) })
    const server = createServer(handle)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
    expect((await fetch(url, { method: 'POST', body: JSON.stringify(event()) })).status).toBe(204)
    expect(events).toEqual([event()])
  })

  test('ends a waiting long before the next question', async ({ server, connect, file }) => {
    const client = connect({ polling: { minMs: 600_000, maxMs: 600_000 } })
    const hooks = createWebhookReceiver({ secret: SECRET, wakes: client })
    const { url } = await hooks.listen()
    onTestFinished(() => hooks.close())
    server.behaviour.webhook = { url, secret: 'of the portal' }
    server.behaviour.states = [{ status: 'Succeeded', errorCode: 0, progress: 100 }]
    const { file_id } = await client.registerAndUpload({ clientFileId: 'a' }, (await file(10)).path)
    const seen: string[] = []
    const waiting = client.waitFor(file_id, { onStatus: ({ status }) => void seen.push(status) })
    await expect.poll(() => seen).toEqual(['Pending'])
    await client.startOnce(file_id, { webhook: true, webhook_secret: SECRET })
    expect(await waiting).toMatchObject({ status: 'Succeeded' })
    expect(server.calls.getFilesStatus).toBe(2)
  })
})

describe('the order of webhooks', () => {
  test('looks at each file by itself, and lets a deletion follow any end', () => {
    const order = new DeliveryOrder()
    order.remember(event({ status: 'Processed' }))
    expect(order.isNews(event({ fileId: 'g', status: 'Queued' }))).toBe(true)
    expect(order.isNews(event({ status: 'Retry Needed' }))).toBe(false)
    expect(order.isNews(event({ status: 'Deleted' }))).toBe(true)
  })

  test('passes on the success of a file that failed before, and each failure once', () => {
    const order = new DeliveryOrder()
    const failed = event({ status: 'Failed-Not-Deleted', errorCode: -10 })
    const error = { ...failed, type: 'error-updated' as const }
    order.remember(failed)
    expect(order.isNews(error)).toBe(true)
    order.remember(error)
    expect([failed, error].map((message) => order.isNews(message))).toEqual([false, false])
    expect(order.isNews(event({ status: 'Failed-Not-Deleted', errorCode: -1 }))).toBe(true)
    expect(order.isNews(event({ status: 'In Progress', progress: 20 }))).toBe(false)
    expect(order.isNews(event({ status: 'Processed', progress: 100 }))).toBe(true)
  })

  test('remembers a bounded number of files', () => {
    const order = new DeliveryOrder()
    for (let index = 0; index <= 10_000; index++) order.remember(event({ fileId: `f-${index}` }))
    expect(order.isNews(event({ fileId: 'f-0' }))).toBe(true)
    expect(order.isNews(event({ fileId: 'f-1' }))).toBe(false)
  })
})
