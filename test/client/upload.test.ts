import { createHash } from 'node:crypto'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { TransferProgress } from '../../src/client/index.js'
import { InterruptedError } from '../../src/core/errors.js'
import type { Fault } from '../helpers/fault-server.js'
import { errorOf, impatientFor, test } from './harness.js'

describe('an upload', () => {
  test('is a PUT with length and block type, without a bearer', async ({ server, client, file }) => {
    const { path, content } = await file(700_000)
    await client.upload(await client.registerFile({ clientFileId: 'a' }), path)
    const [put] = server.requestsOf('upload')
    expect(put?.method).toBe('PUT')
    expect(put?.headers).toMatchObject({
      'content-length': '700000',
      'content-type': 'application/octet-stream',
      'x-ms-blob-type': 'BlockBlob',
    })
    expect(put?.headers.authorization).toBeUndefined()
    expect(put?.headers['transfer-encoding']).toBeUndefined()
    expect(content.equals((await server.files[0]?.input()) ?? Buffer.of())).toBe(true)
  })

  test('names the block-type header as it is configured', async ({ server, connect, file }) => {
    server.blockTypeHeader = 'x-other-block'
    const client = connect({ blockTypeHeader: 'x-other-block' })
    await client.registerAndUpload({ clientFileId: 'a' }, (await file(10)).path)
    expect(server.files[0]?.uploaded).toBe(true)
  })

  test('of an empty file has a length too', async ({ server, client, file }) => {
    await client.registerAndUpload({ clientFileId: 'a' }, (await file(0)).path)
    expect(server.requestsOf('upload')[0]?.headers['content-length']).toBe('0')
    expect(server.files[0]?.uploaded).toBe(true)
  })

  test('tells its progress', async ({ client, file }) => {
    const { path } = await file(700_000)
    const seen: TransferProgress[] = []
    await client.registerAndUpload({ clientFileId: 'a' }, path, { onProgress: (progress) => seen.push(progress) })
    expect(seen.length).toBeGreaterThan(1)
    expect(seen.at(-1)).toEqual({ transferredBytes: 700_000, totalBytes: 700_000 })
  })

  test.for([
    { kind: 'status', status: 408 },
    { kind: 'status', status: 429, retryAfter: '0' },
    { kind: 'status', status: 500 },
    { kind: 'status', status: 503 },
    { kind: 'reset' },
    { kind: 'switch' },
    { kind: 'reset-after' },
    { kind: 'hang' },
    { kind: 'drip' },
  ] as Fault[])('comes through %j with the file opened anew', async (fault, { server, connect, file }) => {
    const client = connect(impatientFor(fault))
    const { path, content } = await file(2_000_000)
    server.fail('upload', fault, 2)
    await client.upload(await client.registerFile({ clientFileId: 'a' }), path)
    expect(server.calls).toMatchObject({ upload: 3, registerFile: 1 })
    expect(content.equals((await server.files[0]?.input()) ?? Buffer.of())).toBe(true)
  })

  test('that arrived with other bytes is sent again', async ({ server, client, file }) => {
    const { path, content } = await file(700_000)
    server.storage.spoiledUploads = 2
    await client.upload(await client.registerFile({ clientFileId: 'a' }), path)
    expect(server.calls.upload).toBe(3)
    expect(content.equals((await server.files[0]?.input()) ?? Buffer.of())).toBe(true)
    server.storage.spoiledUploads = 10
    const error = await errorOf(client.upload(await client.registerFile({ clientFileId: 'b' }), path))
    expect(error).toMatchObject({ code: 'ERR_BAD_ANSWER', message: expect.stringContaining('other bytes') })
  })

  test('reads no more of the response than a response has', async ({ server, connect, file }) => {
    const client = connect({ retry: { limit: 0 } })
    const { path } = await file(10)
    server.fail('upload', { kind: 'answer', status: 201, body: ' '.repeat(5_000_000) })
    const error = await errorOf(client.upload(await client.registerFile({ clientFileId: 'a' }), path))
    expect(error).toMatchObject({ code: 'ERR_BAD_ANSWER', exitCode: 4 })
  })

  test.for([409, 412])(
    'whose response was lost is stored if the storage then says %i',
    async (status, { server, client, file }) => {
      const { path, content } = await file(1000)
      server.fail('upload', { kind: 'reset-after' })
      server.fail('upload', { kind: 'status', status })
      await client.upload(await client.registerFile({ clientFileId: 'a' }), path)
      expect(content.equals((await server.files[0]?.input()) ?? Buffer.of())).toBe(true)
      server.fail('upload', { kind: 'status', status })
      const first = await errorOf(client.upload(await client.registerFile({ clientFileId: 'b' }), path))
      expect(first).toMatchObject({ code: 'ERR_REQUEST_REFUSED', exitCode: 1 })
    },
  )

  test('whose bytes were spoiled is not stored if the storage then says 409', async ({ server, client, file }) => {
    const md5 = createHash('md5').update('other bytes').digest('base64')
    server.fail('upload', { kind: 'answer', status: 201, headers: { 'content-md5': md5 }, body: '' })
    server.fail('upload', { kind: 'status', status: 409 }, 20)
    const error = await errorOf(client.upload(await client.registerFile({ clientFileId: 'a' }), (await file(10)).path))
    expect(error).toMatchObject({ code: 'ERR_BAD_ANSWER', message: expect.stringContaining('other bytes') })
  })

  test('too large for a proxy on the way is named so', async ({ server, client, file }) => {
    server.fail('upload', { kind: 'status', status: 413 })
    const error = await errorOf(client.registerAndUpload({ clientFileId: 'a' }, (await file(10)).path))
    expect(error).toMatchObject({ code: 'ERR_REQUEST_REFUSED', errorCode: -13, exitCode: 1 })
    expect(error).toMatchObject({ remedies: [expect.any(String), expect.stringContaining('--chunk')] })
  })

  test('is not told to configure the address of a storage that redirects', async ({ server, client, file }) => {
    server.fail('upload', { kind: 'answer', status: 307, headers: { location: '/elsewhere' }, body: '' })
    const error = await errorOf(client.registerAndUpload({ clientFileId: 'a' }, (await file(10)).path))
    expect(error).toMatchObject({ code: 'ERR_WRONG_ADDRESS', remedies: [expect.stringContaining('proxy')] })
  })

  test('refused for another reason is final, with the words of the storage', async ({ server, client, file }) => {
    const { path } = await file(10)
    const body =
      '<?xml version="1.0"?><Error><Code>MissingHeader</Code><Message>A header is missing.\nId: 7</Message></Error>'
    server.fail('upload', { kind: 'answer', status: 400, body })
    const error = await errorOf(client.upload(await client.registerFile({ clientFileId: 'a' }), path))
    expect(error).toMatchObject({ code: 'ERR_REQUEST_REFUSED', exitCode: 1 })
    expect(error.message).toMatch(/refused the upload \(400\): A header is missing\.$/)
    expect(server.calls.upload).toBe(1)
  })

  test('of a file that is missing, or shrinks meanwhile, says so', async ({ server, client, dir }) => {
    const registered = await client.registerFile({ clientFileId: 'a' })
    const missing = await errorOf(client.upload(registered, join(dir, 'none.wav')))
    expect(missing).toMatchObject({ code: 'ERR_INPUT_MISSING', exitCode: 2 })
    const path = join(dir, 'shrinking.wav')
    await writeFile(path, Buffer.alloc(8_000_000))
    const onProgress = ({ transferredBytes }: TransferProgress) => {
      if (transferredBytes < 1_000_000) void truncate(path, 1_000_000)
    }
    const shrunk = await errorOf(client.upload(registered, path, { onProgress }))
    expect(shrunk).toMatchObject({ code: 'ERR_INPUT_CHANGED', exitCode: 1 })
    expect(server.files[0]?.uploaded).toBe(false)
  })

  test('ends at an abort, on its way and in the queue', async ({ server, connect, file }) => {
    const client = connect({ transferConcurrency: 1 })
    const { path } = await file(10)
    const registered = await client.registerFile({ clientFileId: 'a' })
    server.fail('upload', { kind: 'hang' })
    const stop = new AbortController()
    const both = [1, 2].map(() => errorOf(client.upload(registered, path, { signal: stop.signal })))
    await expect.poll(() => server.calls.upload).toBe(1)
    stop.abort()
    for (const error of await Promise.all(both)) expect(error).toBeInstanceOf(InterruptedError)
    expect(server.calls.upload).toBe(1)
  })

  test('moves only so many files at once', async ({ server, connect, file }) => {
    const client = connect({ transferConcurrency: 2, timeouts: { connectMs: 2_000, answerMs: 2_000, idleMs: 5_000 } })
    const { path } = await file(10)
    const registered = await client.registerFile({ clientFileId: 'a' })
    server.fail('upload', { kind: 'slow', delayMs: 150 }, 4)
    const all = Promise.all([1, 2, 3, 4].map(() => client.upload(registered, path)))
    await expect.poll(() => server.calls.upload, { interval: 5 }).toBe(2)
    await all
    const [first, , third] = server.requestsOf('upload')
    expect((third?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(145)
  })

  test('goes by plain http to this machine only', async ({ server, client, file }) => {
    const { path } = await file(10)
    const registered = await client.registerFile({ clientFileId: 'a' })
    const link = 'http://storage.example.org/x?sig=very-secret'
    const error = await errorOf(client.upload({ ...registered, file_upload_link: link }, path))
    expect(error.code).toBe('ERR_INSECURE_ADDRESS')
    expect(error.message).not.toContain('very-secret')
    expect(server.calls.upload).toBe(0)
  })
})

describe('an upload link that is no longer good', () => {
  test.for([
    ['refused', { kind: 'expired-link' }, 2],
    ['refused after its expiry', { kind: 'expired-link', past: true }, 2],
  ] as [string, Fault, number][])(
    '%s: registers again, with the new id told first',
    async ([, fault, puts], { server, client, file }) => {
      const { path, content } = await file(1000)
      server.fail('registerFile', fault)
      const told: [string, number][] = []
      const registered = await client.registerAndUpload({ clientFileId: 'a', start: 1 }, path, {
        onRegistered: async ({ file_id }) => void told.push([file_id, server.calls.upload]),
      })
      const [first, second] = server.files
      expect(told).toEqual([
        [first?.id, 0],
        [second?.id, puts - 1],
      ])
      expect(registered.file_id).toBe(second?.id)
      expect(second?.startSec).toBe(1)
      expect(server.calls.upload).toBe(puts)
      expect(content.equals((await second?.input()) ?? Buffer.of())).toBe(true)
    },
  )

  test('a link that is past its expiry by the clock of this machine alone is tried', async ({
    server,
    client,
    file,
  }) => {
    const { path, content } = await file(10)
    const registered = await client.registerFile({ clientFileId: 'a' })
    await client.upload({ ...registered, file_upload_expiry: Math.floor(Date.now() / 1000) - 3600 }, path)
    expect(content.equals((await server.files[0]?.input()) ?? Buffer.of())).toBe(true)
  })

  test('names the clock if it differs from that of the service', async ({ server, client, file }) => {
    const { path } = await file(10)
    const registered = await client.registerFile({ clientFileId: 'a' })
    const date = new Date(Date.now() - 3_600_000).toUTCString()
    server.fail('upload', { kind: 'answer', status: 403, headers: { date }, body: '' })
    const error = await errorOf(client.upload(registered, path))
    expect(error.code).toBe('ERR_UPLOAD_LINK_EXPIRED')
    expect(error.message).toContain('the clock of this machine is 60 minutes ahead of the clock of the service')
    expect((error as unknown as { remedies: string[] }).remedies[0]).toMatch(/^Set the clock/)
  })

  test('is one for which the storage says so with a 400', async ({ server, client, file }) => {
    const body = '<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>'
    server.fail('upload', { kind: 'answer', status: 400, body })
    const registered = await client.registerAndUpload({ clientFileId: 'a' }, (await file(10)).path)
    expect(registered.file_id).toBe(server.files[1]?.id)
    server.fail('upload', { kind: 'answer', status: 400, body })
    const error = await errorOf(client.upload(registered, (await file(10)).path))
    expect(error.message).toContain(
      `refused the upload link of file id ${registered.file_id} (400, The provided token has expired).`,
    )
  })

  test('upload alone says it, to be registered again by the caller', async ({ server, client, file }) => {
    const { path } = await file(10)
    const registered = await client.registerFile({ clientFileId: 'a' })
    server.expireLinks()
    const error = await errorOf(client.upload(registered, path))
    expect(error).toMatchObject({ code: 'ERR_UPLOAD_LINK_EXPIRED', exitCode: 4 })
  })

  test('three times is another fault than age', async ({ server, client, file }) => {
    const { path } = await file(10)
    server.fail('registerFile', { kind: 'expired-link' }, Number.POSITIVE_INFINITY)
    const error = await errorOf(client.registerAndUpload({ clientFileId: 'a' }, path))
    expect(error.code).toBe('ERR_UPLOAD_LINK_EXPIRED')
    expect(server.calls.registerFile).toBe(3)
  })

  test('what onRegistered throws ends it before any byte is sent', async ({ server, client, file }) => {
    const { path } = await file(10)
    const onRegistered = () => Promise.reject(new Error('the ledger is full'))
    const error = await errorOf(client.registerAndUpload({ clientFileId: 'a' }, path, { onRegistered }))
    expect(error.message).toBe('the ledger is full')
    expect(server.calls.upload).toBe(0)
  })
})
