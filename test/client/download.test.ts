import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { TransferProgress } from '../../src/client/index.js'
import { InterruptedError } from '../../src/core/errors.js'
import type { Fault } from '../helpers/fault-server.js'
import { errorOf, impatientFor, test } from './harness.js'

const SIZE = 600_000

describe('a download', () => {
  test('streams to a part file, renames it, and tells its progress', async ({ client, finished, dir }) => {
    const { fileId, content } = await finished(SIZE)
    const target = join(dir, 'out.wav')
    await writeFile(target, 'what stood there')
    const seen: TransferProgress[] = []
    await client.download(fileId, target, { onProgress: (progress) => seen.push(progress) })
    expect(content.equals(await readFile(target))).toBe(true)
    expect(seen.at(-1)).toEqual({ transferredBytes: SIZE, totalBytes: SIZE })
    expect(await readdir(dir)).toEqual(['input-1.bin', 'out.wav'])
  })

  test('sends no bearer to storage, and asks for plain bytes', async ({ server, client, finished, dir }) => {
    const { fileId } = await finished(10)
    await client.download(fileId, join(dir, 'out'))
    const [get] = server.requestsOf('download')
    expect(get?.headers.authorization).toBeUndefined()
    expect(get?.headers['accept-encoding']).toBe('identity')
  })

  test('is resumed after a break, with Range and If-Range', async ({ server, client, finished, dir }) => {
    const { fileId, content } = await finished(SIZE)
    const bytes = 100_000
    // More breaks than there are repeats: bytes that came are progress.
    server.fail('download', { kind: 'truncated', bytes }, 5)
    await client.download(fileId, join(dir, 'out'))
    expect(content.equals(await readFile(join(dir, 'out')))).toBe(true)
    const gets = server.requestsOf('download')
    expect(gets.map(({ headers }) => headers.range)).toEqual([
      undefined,
      ...[1, 2, 3, 4, 5].map((part) => `bytes=${part * bytes}-`),
    ])
    expect(gets[1]?.headers['if-range']).toBe(`"${fileId}"`)
    expect(server.calls.getOutputFileUrl).toBe(1)
  })

  test('is resumed without a validator by the length alone', async ({ server, client, finished, dir }) => {
    const { fileId, content } = await finished(SIZE)
    server.storage.validators = false
    server.fail('download', { kind: 'truncated', bytes: 100_000 })
    await client.download(fileId, join(dir, 'out'))
    expect(content.equals(await readFile(join(dir, 'out')))).toBe(true)
    expect(server.requestsOf('download')[1]?.headers).toMatchObject({ range: 'bytes=100000-' })
    expect(server.requestsOf('download')[1]?.headers['if-range']).toBeUndefined()
  })

  test('starts anew where storage ignores Range', async ({ server, client, finished, dir }) => {
    const { fileId, content } = await finished(SIZE)
    server.storage.ranges = false
    server.fail('download', { kind: 'truncated', bytes: 400_000 })
    await client.download(fileId, join(dir, 'out'))
    expect(content.equals(await readFile(join(dir, 'out')))).toBe(true)
  })

  test.for([
    ['another range than asked', 206, { 'content-range': 'bytes 5-9/600000' }],
    ['another file of another length', 206, { 'content-range': 'bytes 100000-100009/100010' }],
    ['a range that cannot be had', 416, {}],
    ['no content', 204, {}],
  ] as const)('starts anew after %s', async ([, status, headers], { server, client, finished, dir }) => {
    const { fileId, content } = await finished(SIZE)
    server.fail('download', { kind: 'truncated', bytes: 100_000 })
    server.fail('download', { kind: 'answer', status, headers: { ...headers }, body: '' })
    await client.download(fileId, join(dir, 'out'))
    expect(content.equals(await readFile(join(dir, 'out')))).toBe(true)
  })

  test.for([
    { kind: 'status', status: 408 },
    { kind: 'status', status: 429, retryAfter: '0' },
    { kind: 'status', status: 500 },
    { kind: 'status', status: 503 },
    { kind: 'reset' },
    { kind: 'truncated', bytes: 0 },
    { kind: 'hang' },
    { kind: 'redirect' },
  ] as Fault[])('comes through %j', async (fault, { server, connect, finished, dir }) => {
    const client = connect(impatientFor(fault))
    const { fileId, content } = await finished(1000)
    server.fail('download', fault)
    await client.download(fileId, join(dir, 'out'))
    expect(content.equals(await readFile(join(dir, 'out')))).toBe(true)
    expect(server.calls).toMatchObject({ download: 2, getOutputFileUrl: 1 })
  })

  test('of an empty output is an empty file', async ({ client, finished, dir }) => {
    const { fileId } = await finished(0)
    expect(await client.download(fileId, join(dir, 'out'))).toMatchObject({ bytes: 0 })
    expect(await readFile(join(dir, 'out'))).toHaveLength(0)
  })

  test('follows no redirect to plain http elsewhere', async ({ server, client, finished, dir }) => {
    const { fileId } = await finished(10)
    server.fail('download', { kind: 'redirect', location: 'http://storage.example.org/x?sig=very-secret' })
    const error = await errorOf(client.download(fileId, join(dir, 'out')))
    expect(error.code).toBe('ERR_INSECURE_ADDRESS')
    expect(error.message).not.toContain('very-secret')
  })
})

describe('a download link that is no longer good', () => {
  test.for([401, 403, 404, 410])('a %i: another is asked for', async (status, { server, client, finished, dir }) => {
    const { fileId, content } = await finished(1000)
    server.fail('download', { kind: 'status', status })
    await client.download(fileId, join(dir, 'out'))
    expect(content.equals(await readFile(join(dir, 'out')))).toBe(true)
    expect(server.calls).toMatchObject({ download: 2, getOutputFileUrl: 2 })
  })

  test('past its expiry: another is asked for before it is used', async ({ server, client, finished, dir }) => {
    const { fileId } = await finished(1000)
    server.fail('getOutputFileUrl', { kind: 'expired-link', past: true })
    await client.download(fileId, join(dir, 'out'))
    expect(server.calls).toMatchObject({ download: 2, getOutputFileUrl: 2 })
  })

  test('in the midst of the file: goes on with the new link', async ({ server, client, finished, dir }) => {
    const { fileId, content } = await finished(SIZE)
    server.fail('download', { kind: 'truncated', bytes: 200_000 })
    server.fail('download', { kind: 'status', status: 403 })
    await client.download(fileId, join(dir, 'out'))
    expect(content.equals(await readFile(join(dir, 'out')))).toBe(true)
    expect(server.requestsOf('download').map(({ headers }) => headers.range)).toEqual([
      undefined,
      'bytes=200000-',
      'bytes=200000-',
    ])
    expect(server.calls.getOutputFileUrl).toBe(2)
  })
})

describe('a download that fails', () => {
  test.for([
    [{ kind: 'status', status: 503 }, 'ERR_SERVICE_BUSY'],
    [{ kind: 'reset' }, 'ERR_SERVICE_UNREACHABLE'],
    [{ kind: 'status', status: 403 }, 'ERR_ACCESS_DENIED'],
    [{ kind: 'status', status: 400 }, 'ERR_REQUEST_REFUSED'],
  ] as [Fault, string][])(
    'for good with %j leaves nothing behind',
    async ([fault, code], { server, client, finished, dir }) => {
      const { fileId } = await finished(1000)
      server.fail('download', fault, Number.POSITIVE_INFINITY)
      expect((await errorOf(client.download(fileId, join(dir, 'out')))).code).toBe(code)
      expect(await readdir(dir)).toEqual(['input-1.bin'])
    },
  )

  test('by an abort leaves nothing behind', async ({ server, client, finished, dir }) => {
    const { fileId } = await finished(SIZE)
    const stop = new AbortController()
    server.fail('download', { kind: 'truncated', bytes: 100_000 }, Number.POSITIVE_INFINITY)
    const onProgress = () => stop.abort()
    const error = await errorOf(client.download(fileId, join(dir, 'out'), { signal: stop.signal, onProgress }))
    expect(error).toBeInstanceOf(InterruptedError)
    expect(await readdir(dir)).toEqual(['input-1.bin'])
  })

  test('too early says that there is no output', async ({ client, dir }) => {
    const { file_id } = await client.registerFile({ clientFileId: 'a' })
    expect((await errorOf(client.download(file_id, join(dir, 'out')))).code).toBe('ERR_NOT_FOUND')
    expect(await readdir(dir)).toEqual([])
  })

  test('for the disk says so', async ({ client, finished, dir }) => {
    const { fileId } = await finished(10)
    await mkdir(join(dir, 'folder'))
    const error = await errorOf(client.download(fileId, join(dir, 'folder')))
    expect(error.message).not.toContain('sig=')
    expect((await readdir(dir)).sort()).toEqual(['folder', 'input-1.bin'])
  })
})
