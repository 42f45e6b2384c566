import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { UsageError } from '../../src/core/errors.js'
import { errorOf, test } from './harness.js'

describe('the six operations', () => {
  test('take a file there and back', async ({ server, client, file, dir }) => {
    const { path, content } = await file(300_000)
    expect(await client.ping()).toEqual({ status: 'ok' })
    const registered = await client.registerFile({ clientFileId: 'clip.wav', start: 1.5, end: 3 })
    expect(registered).toMatchObject({ client_file_id: 'clip.wav', file_name: 'clip' })
    await client.upload(registered, path)
    const fileId = registered.file_id
    expect(await client.startProcess(fileId, { output_type: 'flac' })).toEqual({ file_id: fileId, error: null })
    expect(await client.waitFor(fileId)).toEqual({ id: fileId, status: 'Succeeded', errorCode: 0, progress: 100 })
    const target = join(dir, 'out.flac')
    expect(await client.download(fileId, target)).toEqual({ path: target, bytes: content.length })
    expect(content.equals(await readFile(target))).toBe(true)
    expect(server.files[0]).toMatchObject({
      startSec: 1.5,
      endSec: 3,
      options: { model: 'regen_v1', output_type: 'flac' },
    })
  })

  test('register a file from an address', async ({ server, client }) => {
    const registered = await client.registerFileFromUrl({ clientFileId: 'a', sourceUrl: 'https://example.org/a.wav' })
    expect(registered.file_id).toBe(server.files[0]?.id)
    expect(server.requestsOf('registerFileFromUrl')[0]?.body).toEqual({
      file_to_register: { client_file_id: 'a', source_url: 'https://example.org/a.wav' },
    })
  })

  test('send what the interface has and nothing else', async ({ server, client }) => {
    const { file_id } = await client.registerFile({ clientFileId: 'a' })
    await client.getFilesStatus([file_id])
    await errorOf(client.getOutputFileUrl(file_id))
    expect(server.requestsOf('registerFile')[0]?.body).toEqual({ file_to_register: { client_file_id: 'a' } })
    expect(server.requestsOf('getFilesStatus')[0]?.body).toEqual({ fileIds: [file_id] })
    expect(server.requestsOf('getOutputFileUrl')[0]?.body).toEqual({ fileId: file_id })
    for (const { operation, headers } of server.requests) {
      expect(headers['user-agent']).toMatch(/^voxmux\/\d+\.\d+\.\d+/)
      expect(headers['content-type']).toBe(
        operation === 'token' ? 'application/x-www-form-urlencoded' : 'application/json',
      )
    }
  })

  test('ping needs no token', async ({ server, client }) => {
    await client.ping()
    expect(server.calls.token).toBe(0)
    expect(server.requestsOf('ping')[0]?.headers.authorization).toBeUndefined()
  })

  test('ask for more than a hundred ids in several requests, answered in the order asked', async ({
    server,
    client,
  }) => {
    const ids = Array.from({ length: 230 }, (_, index) => `id-${index}`)
    const entries = await client.getFilesStatus(ids)
    expect(entries.map((entry) => entry.id)).toEqual(ids)
    expect(server.requestsOf('getFilesStatus').map(({ body }) => (body as { fileIds: [] }).fileIds.length)).toEqual([
      100, 100, 30,
    ])
  })

  test('refuse options the interface does not have before anything is sent', async ({ server, client }) => {
    const long = await errorOf(client.startProcess('id', { webhook_secret: 'x'.repeat(1001) }))
    expect(long).toBeInstanceOf(UsageError)
    expect(long).toMatchObject({ code: 'ERR_BAD_OPTION', exitCode: 2 })
    expect(server.requests).toEqual([])
  })

  test('a model of another name is sent as it is configured', async ({ server, client, file }) => {
    const { path } = await file(10)
    const { file_id } = await client.registerAndUpload({ clientFileId: 'a' }, path)
    server.fail('startProcess', { kind: 'answer', body: { file_id, error: null } })
    await client.startProcess(file_id, { model: 'other_v2' })
    expect(server.requestsOf('startProcess')[0]?.body).toEqual({ file_id, options: { model: 'other_v2' } })
  })
})

describe('the options', () => {
  test.for([
    ['baseUrl', 'http://service.example.org', 'ERR_INSECURE_ADDRESS'],
    ['authUrl', 'http://service.example.org', 'ERR_INSECURE_ADDRESS'],
    ['baseUrl', 'ftp://service.example.org', 'ERR_BAD_ADDRESS'],
    ['baseUrl', 'service', 'ERR_BAD_ADDRESS'],
    ['clientSecret', '', 'ERR_BAD_OPTION'],
    ['tenant', 'unknown key', 'ERR_BAD_OPTION'],
  ] as const)('%s=%s is refused with %s', async ([key, value, code], { connect }) => {
    const error = await errorOf(Promise.resolve().then(() => connect({ [key]: value })))
    expect(error).toBeInstanceOf(UsageError)
    expect(error.code).toBe(code)
  })

  test('plain http to this machine and a path before the interface are fine', async ({ server, connect }) => {
    const port = new URL(server.clientOptions.baseUrl).port
    expect(await connect({ baseUrl: `http://localhost:${port}/` }).ping()).toEqual({ status: 'ok' })
    const prefixed = await errorOf(connect({ baseUrl: `http://localhost:${port}/gateway/` }).ping())
    expect(prefixed.code).toBe('ERR_NOT_FOUND')
    expect(prefixed).toMatchObject({ remedies: [expect.stringContaining('VOXMUX_BASE_URL')] })
    const lost = connect({ baseUrl: `http://localhost:${port}/gateway/` })
    const error = await errorOf(lost.registerFile({ clientFileId: 'a' }))
    expect(error).toMatchObject({ code: 'ERR_WRONG_ADDRESS', exitCode: 2, message: expect.stringContaining('(404)') })
  })
})
