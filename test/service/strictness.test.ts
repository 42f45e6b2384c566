import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { validationErrorResponseSchema } from '../../src/contract/index.js'
import { apiClient } from './support/api-client.js'
import { withService } from './support/with-service.js'

const START = { file_id: 'a', options: { model: 'regen_v1' } }
const register = (fields: object) => ({ file_to_register: { client_file_id: 'a', ...fields } })
const fromUrl = (fields: object) => register({ source_url: 'https://example.com/a', ...fields })

const INVALID: readonly [wrong: string, operation: string, body: unknown][] = [
  ['an empty object', 'registerFile', {}],
  ['an unknown property', 'registerFile', { ...register({}), more: 1 }],
  ['an unknown property inside', 'registerFile', register({ name: 'a' })],
  ['a number for a text', 'registerFile', register({ client_file_id: 1 })],
  ['a text for a number', 'registerFile', register({ start: '1' })],
  ['null for a number', 'registerFile', register({ end: null })],
  ['a source_url where none belongs', 'registerFile', register({ source_url: 'https://example.com/a' })],
  ['a negative start', 'registerFile', register({ start: -1 })],
  ['a start at the end', 'registerFile', register({ start: 2, end: 2 })],
  ['an end at the beginning', 'registerFile', register({ end: 0 })],
  ['a list for an object', 'registerFile', []],
  ['no source_url', 'registerFileFromUrl', register({})],
  ['a source_url that is none', 'registerFileFromUrl', fromUrl({ source_url: 'nowhere' })],
  ...[
    'ftp://example.com/a',
    'http://example.com/a\0?token=1',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'unix:/run/a.sock:/',
  ].map((source_url): [string, string, unknown] => [source_url, 'registerFileFromUrl', fromUrl({ source_url })]),
  ['a part that is backwards', 'registerFileFromUrl', fromUrl({ start: 3, end: 1 })],
  ['an empty file_id', 'startProcess', { ...START, file_id: '' }],
  ['no options', 'startProcess', { file_id: 'a' }],
  ['no model', 'startProcess', { file_id: 'a', options: {} }],
  ['another model', 'startProcess', { file_id: 'a', options: { model: 'regen_v2' } }],
  ['a text for a boolean', 'startProcess', { file_id: 'a', options: { ...START.options, webhook: 'true' } }],
  ['a secret of 1001', 'startProcess', { ...START, options: { ...START.options, webhook_secret: 'x'.repeat(1001) } }],
  ...['two\nlines', 'two\r\nlines', 'a\0b', '\x7f', '\x85'].map((webhook_secret): [string, string, unknown] => [
    `the secret ${JSON.stringify(webhook_secret)}`,
    'startProcess',
    { ...START, options: { ...START.options, webhook_secret } },
  ]),
  ['an unknown output type', 'startProcess', { ...START, options: { ...START.options, output_type: 'wma' } }],
  ['an unknown option', 'startProcess', { ...START, options: { ...START.options, speed: 2 } }],
  ['no ids', 'getFilesStatus', { fileIds: [] }],
  ['101 ids', 'getFilesStatus', { fileIds: Array.from({ length: 101 }, () => 'a') }],
  ['an empty id', 'getFilesStatus', { fileIds: [''] }],
  ['one id without a list', 'getFilesStatus', { fileIds: 'a' }],
  ['file_id instead of fileId', 'getOutputFileUrl', { file_id: 'a' }],
  ['an empty fileId', 'getOutputFileUrl', { fileId: '' }],
  ['text that is no JSON', 'getFilesStatus', '{"fileIds": ['],
  ['an empty body', 'getFilesStatus', ''],
  ['a poisoned prototype', 'getFilesStatus', '{"fileIds": ["a"], "__proto__": {"x": 1}}'],
  ['a body beyond all bounds', 'getFilesStatus', { fileIds: ['x'.repeat(1024 ** 2)] }],
]

describe('a request that is not valid', () => {
  it('is answered with the four fields, whatever is wrong with it', async () => {
    const client = await apiClient(await withService())
    for (const [wrong, operation, body] of INVALID) {
      const answer = await client.post(operation, body)
      expect([wrong, answer.status]).toEqual([wrong, 400])
      validationErrorResponseSchema.parse(await answer.json())
    }
  })

  it('is answered shortly, however many names it has and however long they are', async () => {
    const service = await withService()
    const client = await apiClient(service)
    const keys = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`key${index}`, 1]))
    for (const more of [keys, { ['k'.repeat(900_000)]: 1 }]) {
      const answer = await client.post('getFilesStatus', { fileIds: ['a'], ...more })
      const { message } = validationErrorResponseSchema.parse(await answer.json())
      expect(message).toMatch(/^body\/ Unrecognized keys?: "k.*…$/)
      expect(message).toHaveLength(500)
    }
    const name = 'n'.repeat(30_000)
    const token = await fetch(`${service.authUrl}/${service.tenantId}/oauth2/v2.0/token`, {
      method: 'POST',
      body: new URLSearchParams(`${name}=1&${name}=2`),
    })
    const { error, error_description } = (await token.json()) as Record<string, string>
    expect([token.status, error, error_description?.length]).toEqual([400, 'invalid_request', 500])
  })

  it('is answered likewise for another content type, a path that cannot be decoded and bytes that are no HTTP', async () => {
    const service = await withService()
    const client = await apiClient(service)
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'nonsense']) {
      const answer = await client.post('getFilesStatus', { fileIds: ['a'] }, { 'content-type': type })
      expect([type, answer.status]).toEqual([type, 400])
      expect(validationErrorResponseSchema.parse(await answer.json()).message).toContain('application/json')
    }
    const latin1 = Buffer.from('{"file_to_register":{"client_file_id":"caf\u00e9.wav"}}', 'latin1')
    const bytes = await fetch(`${service.baseUrl}/api/v1/registerFile`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${client.token}` },
      body: latin1,
    })
    expect(bytes.status).toBe(400)
    expect(validationErrorResponseSchema.parse(await bytes.json()).message).toContain('UTF-8')
    const path = await fetch(`${service.baseUrl}/api/v1/%zz`)
    expect(path.status).toBe(400)
    validationErrorResponseSchema.parse(await path.json())
    const [head, body] = (await rawExchange(service.baseUrl, 'this is not HTTP\r\n\r\n')).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1.1 400 /)
    validationErrorResponseSchema.parse(JSON.parse(body ?? ''))
  })
})

describe('a request that is valid', () => {
  it('may be as large as the interface allows', async () => {
    const client = await apiClient(await withService())
    const { file_id } = await client.register('.env')
    const ids = [file_id, ...Array.from({ length: 98 }, (_, index) => `id-${index}`), file_id]
    const entries = await client.status(...ids)
    expect(entries.map(({ id }) => id)).toEqual(ids)
    const options = { model: 'regen_v1', webhook: true, webhook_secret: 'x'.repeat(1000), output_type: 'm4a' }
    expect((await client.post('startProcess', { file_id, options })).status).toBe(200)
    expect(
      (await client.post('getFilesStatus', { fileIds: ['a'] }, { 'content-type': 'application/json; charset=utf-8' }))
        .status,
    ).toBe(200)
  })

  it('names a file by the base name of the client’s id, without its last extension', async () => {
    const client = await apiClient(await withService())
    for (const [id, name] of [
      ['clip.mov', 'clip'],
      ['a/b.final.mov', 'b.final'],
      ['C:\\takes\\scene 1.wav', 'scene 1'],
      ['takes.d/', 'takes'],
      ['noextension', 'noextension'],
      ['.env', '.env'],
      ['a/.env.local', '.env'],
      ['dir.d/file', 'file'],
      ['ends.', 'ends.'],
      ['../..', '..'],
      ['two\nlines/a\nb.wav', 'a\nb'],
      ['', ''],
      ['名前.wav', '名前'],
      ['half a pair \ud800.wav', 'half a pair \ud800'],
    ] as const)
      expect(await client.register(id)).toMatchObject({ client_file_id: id, file_name: name })
  })

  it('may name its file by very many slashes without holding up the service', async () => {
    const client = await apiClient(await withService())
    expect(await client.register(`${'/'.repeat(900_000)}x`)).toMatchObject({ file_name: 'x' })
    expect(await client.register(`${'a/'.repeat(400_000)}b.wav${'\\/'.repeat(50_000)}`)).toMatchObject({
      file_name: 'b',
    })
    expect(await client.register(`${'.'.repeat(900_000)}/`)).toMatchObject({ file_name: '.'.repeat(900_000) })
  })
})

describe('the open pages', () => {
  it('need no token', async () => {
    const { baseUrl } = await withService()
    const ping = await fetch(`${baseUrl}/api/v1/service-health/ping`)
    expect([ping.status, await ping.json()]).toEqual([200, { status: 'ok' }])
    expect((await fetch(`${baseUrl}/api/v1/service-health/ping`, { method: 'HEAD' })).status).toBe(200)
    const document = (await (await fetch(`${baseUrl}/api/v1/openapi.json`)).json()) as {
      openapi: string
      paths: Record<string, object>
      webhooks: Record<string, Record<string, { operationId?: string; requestBody?: { required?: boolean } }>>
    }
    expect(document.openapi).toBe('3.1.0')
    expect(Object.keys(document.paths)).toHaveLength(6)
    const { post, put, get } = document.webhooks.processingEvent ?? {}
    expect([post?.requestBody?.required, put?.requestBody?.required, get?.requestBody]).toEqual([true, true, undefined])
    const page = await fetch(`${baseUrl}/api/v1/docs`)
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(await page.text()).toContain('registerFileFromUrl')
    expect(await (await fetch(`${baseUrl}/api/v1/limits`)).json()).toHaveProperty('maxSizeBytes')
  })

  it('answer 404 as an operation message for what is not there', async () => {
    const { baseUrl } = await withService()
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/api/v1/registerFile'],
      ['DELETE', '/api/v1/getFilesStatus'],
      ['GET', '/api/v2/service-health/ping'],
    ]) {
      const answer = await fetch(`${baseUrl}${path}`, { method: method ?? 'GET' })
      expect([path, answer.status]).toEqual([path, 404])
      expect(await answer.json()).toMatchObject({ statusCode: 404, message: expect.any(String) })
    }
  })
})

function rawExchange(baseUrl: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('end', () => resolve(Buffer.concat(chunks).toString()))
    socket.on('error', reject)
  })
}
