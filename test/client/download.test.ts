import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished } from 'vitest'
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

  test('to one target as another leaves the whole of one of them', async ({ client, finished, dir }) => {
    const [first, second] = [await finished(SIZE), await finished(SIZE / 2)]
    const target = join(dir, 'out.wav')
    const started = client.download(first.fileId, target)
    await client.download(second.fileId, target)
    await started
    const output = await readFile(target)
    expect([first, second].some(({ content }) => content.equals(output))).toBe(true)
    expect((await readdir(dir)).filter((name) => !name.startsWith('input-'))).toEqual(['out.wav'])
  })

  test('takes a target with the longest name', async ({ client, finished, dir }) => {
    const { fileId, content } = await finished(10)
    const target = join(dir, `${'n'.repeat(251)}.wav`)
    await client.download(fileId, target)
    expect(content.equals(await readFile(target))).toBe(true)
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
    ['another range than asked', 206, { 'content-range': 'bytes 5-500004/600000' }, 500_000],
    ['another file of another length', 206, { 'content-range': 'bytes 100000-100009/100010' }, 10],
    ['a range that cannot be had', 416, {}, 0],
    ['no content', 204, {}, 0],
  ] as const)('starts anew after %s', async ([, status, headers, bytes], { server, client, finished, dir }) => {
    const { fileId, content } = await finished(SIZE)
    server.fail('download', { kind: 'truncated', bytes: 100_000 })
    server.fail('download', { kind: 'answer', status, headers: { ...headers }, body: 'x'.repeat(bytes) })
    await client.download(fileId, join(dir, 'out'))
    expect(content.equals(await readFile(join(dir, 'out')))).toBe(true)
  })

  test.for([
    { kind: 'status', status: 408 },
    { kind: 'status', status: 429, retryAfter: '0' },
    { kind: 'status', status: 500 },
    { kind: 'status', status: 503 },
    { kind: 'reset' },
    { kind: 'switch' },
    { kind: 'truncated', bytes: 0 },
    { kind: 'hang' },
    { kind: 'drip' },
    { kind: 'redirect' },
  ] as Fault[])('comes through %j', async (fault, { server, connect, finished, dir }) => {
    const client = connect(impatientFor(fault))
    const { fileId, content } = await finished(1000)
    server.fail('download', fault)
    await client.download(fileId, join(dir, 'out'))
    expect(content.equals(await readFile(join(dir, 'out')))).toBe(true)
    expect(server.calls).toMatchObject({ download: 2, getOutputFileUrl: 1 })
  })

  test('follows no redirect to plain http elsewhere', async ({ server, client, finished, dir }) => {
    const { fileId } = await finished(10)
    server.fail('download', { kind: 'redirect', location: 'http://storage.example.org/x?sig=very-secret' })
    const error = await errorOf(client.download(fileId, join(dir, 'out')))
    expect(error.code).toBe('ERR_INSECURE_ADDRESS')
    expect(error.message).not.toContain('very-secret')
  })
})

describe('an answer that is not the plain file', () => {
  test.for([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)(
    'is decoded from %s, also after a break',
    async ([encoding, encode], { server, client, finished, dir }) => {
      const { fileId, content } = await finished(SIZE)
      const encoded = join(dir, 'encoded')
      await writeFile(encoded, encode(content))
      const headers = { 'content-encoding': encoding }
      server.fail('download', { kind: 'file', path: encoded, headers, endByte: 2_000 })
      server.fail('download', { kind: 'file', path: encoded, headers })
      await client.download(fileId, join(dir, 'out'))
      expect(content.equals(await readFile(join(dir, 'out')))).toBe(true)
      expect(server.requestsOf('download')[1]?.headers.range).toBeUndefined()
    },
  )

  test('is refused in an encoding that nobody knows', async ({ server, client, finished, dir }) => {
    const { fileId } = await finished(10)
    const headers = { 'content-encoding': 'zip-of-the-proxy' }
    server.fail('download', { kind: 'answer', headers, body: 'x' }, Number.POSITIVE_INFINITY)
    const error = await errorOf(client.download(fileId, join(dir, 'out')))
    expect(error).toMatchObject({ code: 'ERR_BAD_ANSWER', exitCode: 4 })
    expect(error.message).toContain('encoded as zip-of-the-proxy')
  })

  test('ends if each range after a break is a wrong one', async ({ server, client, finished, dir }) => {
    const { fileId } = await finished(SIZE)
    for (let turn = 0; turn < 20; turn++) {
      server.fail('download', { kind: 'truncated', bytes: 100_000 })
      server.fail('download', {
        kind: 'answer',
        status: 206,
        headers: { 'content-range': 'bytes 5-9/600000' },
        body: '',
      })
    }
    server.fail('download', { kind: 'hang' }, Number.POSITIVE_INFINITY)
    expect(await errorOf(client.download(fileId, join(dir, 'out')))).toMatchObject({ exitCode: 4 })
    expect(server.calls.download).toBeLessThan(10)
  })
})

describe('the answers of an old server', () => {
  /** Answers each request with the next text and closes: no length, no keep-alive. */
  async function oldServer(answers: readonly string[]): Promise<string> {
    let turn = 0
    const server = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(answers[turn++] ?? ''))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  test('over HTTP/1.0, or ended by closing, are read', async ({ connect, server, finished, dir }) => {
    const status = '{"status":"ok"}'
    const answers = [`HTTP/1.0 200 OK\r\n\r\n${status}`, `HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${status}`]
    const old = connect({ baseUrl: await oldServer(answers) })
    expect([await old.ping(), await old.ping()]).toEqual([{ status: 'ok' }, { status: 'ok' }])
    const { fileId } = await finished(10)
    const url = `${await oldServer(['HTTP/1.0 200 OK\r\n\r\n\0 the whole file'])}/file`
    server.fail('getOutputFileUrl', { kind: 'answer', body: { url, expiry: 4_000_000_000 } })
    await connect().download(fileId, join(dir, 'out'))
    expect(await readFile(join(dir, 'out'), 'utf8')).toBe('\0 the whole file')
  })
})

describe('a 404 for the link of a succeeded file', () => {
  test('is asked about again while the status says Succeeded', async ({ server, client, finished, dir }) => {
    const { fileId, content } = await finished(1000)
    server.fail('getOutputFileUrl', { kind: 'status', status: 404 }, 2)
    const missing = { id: fileId, status: 'NotFound', errorCode: -11, progress: 0 }
    server.fail('getFilesStatus', { kind: 'answer', body: [missing] })
    await client.download(fileId, join(dir, 'out'))
    expect(content.equals(await readFile(join(dir, 'out')))).toBe(true)
  })

  test('for good is no NotFound as long as the status is Succeeded', async ({ server, client, finished, dir }) => {
    const { fileId } = await finished(1000)
    server.fail('getOutputFileUrl', { kind: 'status', status: 404 }, Number.POSITIVE_INFINITY)
    const error = await errorOf(client.download(fileId, join(dir, 'out')))
    expect(error).toMatchObject({ code: 'ERR_OUTPUT_NOT_READY', exitCode: 4, errorCode: undefined })
  })
})

describe('a download link that is no longer good', () => {
  test.for([400, 401, 403, 404, 410])(
    'a %i: another is asked for',
    async (status, { server, client, finished, dir }) => {
      const { fileId, content } = await finished(1000)
      server.fail('download', { kind: 'status', status })
      await client.download(fileId, join(dir, 'out'))
      expect(content.equals(await readFile(join(dir, 'out')))).toBe(true)
      expect(server.calls).toMatchObject({ download: 2, getOutputFileUrl: 2 })
    },
  )

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
    [{ kind: 'status', status: 403 }, 'ERR_DOWNLOAD_LINK_REFUSED'],
    [{ kind: 'status', status: 404 }, 'ERR_DOWNLOAD_LINK_REFUSED'],
    [{ kind: 'status', status: 400 }, 'ERR_DOWNLOAD_LINK_REFUSED'],
    [{ kind: 'status', status: 418 }, 'ERR_REQUEST_REFUSED'],
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
    expect((await errorOf(client.download(file_id, join(dir, 'out')))).code).toBe('ERR_OUTPUT_NOT_READY')
    expect((await errorOf(client.download('unknown', join(dir, 'out')))).code).toBe('ERR_NOT_FOUND')
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
