import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect } from 'vitest'
import { resolveClientOptions } from '../../src/client/client-options.js'
import { HttpFault, httpFaultOf } from '../../src/client/http-fault.js'
import { pauseMs, retryAfterMs } from '../../src/client/retry.js'
import { JobFailedError, TransientError } from '../../src/core/errors.js'
import type { Fault } from '../helpers/fault-server.js'
import { errorOf, impatientFor, test } from './harness.js'

/** Timers may fire a moment before their time, and clocks are read in whole milliseconds. */
const TIMER_EARLY_MS = 10

const PASSING: Fault[] = [
  { kind: 'status', status: 408 },
  { kind: 'status', status: 425 },
  { kind: 'status', status: 429 },
  { kind: 'status', status: 500 },
  { kind: 'status', status: 503 },
  { kind: 'reset' },
  { kind: 'switch' },
  { kind: 'reset-after' },
  { kind: 'truncated' },
  { kind: 'garbage' },
  { kind: 'wrong-shape' },
  { kind: 'hang' },
  { kind: 'answer', body: '' },
]

describe('a passing fault', () => {
  test.for(PASSING)('%j is come through by each operation', async (fault, { server, connect, finished }) => {
    const client = connect(impatientFor(fault))
    const { fileId } = await finished(10)
    server.fail('ping', fault)
    server.fail('registerFile', fault)
    server.fail('registerFileFromUrl', fault)
    server.fail('getFilesStatus', fault)
    server.fail('getOutputFileUrl', fault)
    expect(await client.ping()).toEqual({ status: 'ok' })
    await client.registerFile({ clientFileId: 'a' })
    await client.registerFileFromUrl({ clientFileId: 'a', sourceUrl: 'https://example.org/a.wav' })
    expect(await client.getFilesStatus([fileId])).toMatchObject([{ status: 'Succeeded' }])
    expect((await client.getOutputFileUrl(fileId)).url).toContain(fileId)
    expect(server.calls).toMatchObject({ ping: 2, registerFile: 3, registerFileFromUrl: 2, getOutputFileUrl: 2 })
  })
})

describe('a lasting fault', () => {
  test.for([
    [{ kind: 'status', status: 400 }, 'ERR_REQUEST_REFUSED', 1],
    [{ kind: 'status', status: 403 }, 'ERR_ACCESS_DENIED', 1],
    [{ kind: 'status', status: 404 }, 'ERR_NOT_FOUND', 1],
    [{ kind: 'status', status: 413 }, 'ERR_REQUEST_REFUSED', 1],
    [{ kind: 'answer', status: 308, headers: { location: 'https://example.org/' }, body: '' }, 'ERR_WRONG_ADDRESS', 1],
    [{ kind: 'status', status: 429 }, 'ERR_SERVICE_BUSY', 4],
    [{ kind: 'status', status: 500 }, 'ERR_SERVICE_BUSY', 4],
    [{ kind: 'reset' }, 'ERR_SERVICE_UNREACHABLE', 4],
    [{ kind: 'hang' }, 'ERR_SERVICE_UNREACHABLE', 4],
    [{ kind: 'garbage' }, 'ERR_BAD_ANSWER', 4],
    [{ kind: 'wrong-shape' }, 'ERR_BAD_ANSWER', 4],
    [{ kind: 'answer', body: ' '.repeat(5_000_000) }, 'ERR_BAD_ANSWER', 4],
  ] as [Fault, string, number][])('%j is %s after %i calls', async ([fault, code, calls], { server, connect }) => {
    const client = connect(impatientFor(fault))
    server.fail('getOutputFileUrl', fault, Number.POSITIVE_INFINITY)
    const error = await errorOf(client.getOutputFileUrl('a'))
    expect(error.code).toBe(code)
    expect(httpFaultOf(error)?.operation).toBe('getOutputFileUrl')
    expect(server.calls.getOutputFileUrl).toBe(calls)
  })

  test('a 404 carries the interface code for it', async ({ client }) => {
    const error = await errorOf(client.getOutputFileUrl('nobody'))
    expect(error).toBeInstanceOf(JobFailedError)
    expect(error).toMatchObject({ errorCode: -11, errorName: 'NotFound', exitCode: 1 })
  })

  test('a service that is down is unreachable, and nothing was sent', async ({ connect }) => {
    const probe = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => probe.once('listening', resolve))
    const { port } = probe.address() as AddressInfo
    await new Promise<void>((resolve) => probe.close(() => resolve()))
    const error = await errorOf(connect({ baseUrl: `http://127.0.0.1:${port}` }).ping())
    expect(error).toBeInstanceOf(TransientError)
    expect(error).toMatchObject({ code: 'ERR_SERVICE_UNREACHABLE', exitCode: 4 })
    expect(httpFaultOf(error)).toMatchObject({ reason: 'unsent', ambiguous: false })
  })

  test('a registration that says error_code 500 is one of the service, and repeated', async ({ server, client }) => {
    const registered = { file_id: 'x', client_file_id: 'a', file_name: 'a', success: false, error_code: 500 }
    server.fail('registerFileFromUrl', { kind: 'answer', body: { registered_file: registered } })
    const link = { file_upload_link: 'https://example.org/', file_upload_expiry: 1 }
    server.fail('registerFile', { kind: 'answer', body: { registered_file: { ...registered, ...link } } }, 4)
    const source = { clientFileId: 'a', sourceUrl: 'https://example.org/a' }
    expect((await client.registerFileFromUrl(source)).file_id).toBe(server.files[0]?.id)
    expect((await errorOf(client.registerFile({ clientFileId: 'a' }))).code).toBe('ERR_SERVICE_BUSY')
    expect(server.calls).toMatchObject({ registerFileFromUrl: 2, registerFile: 4 })
  })

  test('an answer about another file is not taken', async ({ server, client }) => {
    const entry = { id: 'other', status: 'Succeeded', errorCode: 0, progress: 100 }
    server.fail('getFilesStatus', { kind: 'answer', body: [entry] })
    expect(await client.getFilesStatus(['a'])).toMatchObject([{ id: 'a', status: 'NotFound' }])
    server.fail('registerFileFromUrl', {
      kind: 'answer',
      body: { registered_file: { file_id: 'x', client_file_id: 'b', file_name: 'b' } },
    })
    const registered = await client.registerFileFromUrl({ clientFileId: 'a', sourceUrl: 'https://example.org/a' })
    expect(registered.client_file_id).toBe('a')
  })

  test('a file id that a ledger would keep as another one is not taken', async ({ server, client }) => {
    for (const file_id of ['', 'a\0b', 'half a pair \ud800']) {
      const registered_file = { file_id, client_file_id: 'a', file_name: 'a' }
      server.fail('registerFileFromUrl', { kind: 'answer', body: { registered_file } })
    }
    const source = { clientFileId: 'a', sourceUrl: 'https://example.org/a' }
    expect((await client.registerFileFromUrl(source)).file_id).toBe(server.files[0]?.id)
    expect(server.calls.registerFileFromUrl).toBe(4)
  })
})

describe('Retry-After', () => {
  const nowMs = Date.parse('2026-03-01T12:00:00Z')
  const { retry } = resolveClientOptions({
    baseUrl: 'https://a.example',
    authUrl: 'https://a.example',
    tenantId: 't',
    clientId: 'c',
    clientSecret: 's',
    scope: 'x',
  })
  const busy = (header: string | undefined) =>
    new HttpFault({ operation: 'ping', reason: 'status', status: 429, retryAfterMs: retryAfterMs(header, nowMs) })

  test.for([
    ['7', 7_000],
    ['0', 0],
    ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['soon', undefined],
    [undefined, undefined],
  ] as const)('%s is read as %s ms', ([header, expected]) => {
    expect(retryAfterMs(header, nowMs)).toBe(expected)
  })

  test('is obeyed where it is longer than our own pause, and capped', () => {
    expect(pauseMs(busy('7'), 0, retry)).toBe(7_000)
    expect(pauseMs(busy('86400'), 0, retry)).toBe(retry.retryAfterMaxMs)
    expect(pauseMs(busy('0'), 3, retry)).toBeGreaterThanOrEqual(1_000)
  })

  test('our own pause doubles, with jitter, up to its bound', () => {
    for (let attempt = 0; attempt < 12; attempt++) {
      const ceiling = Math.min(retry.maxMs, retry.baseMs * 2 ** attempt)
      const pauses = Array.from({ length: 50 }, () => pauseMs(busy(undefined), attempt, retry))
      expect(Math.max(...pauses)).toBeLessThanOrEqual(ceiling)
      expect(Math.min(...pauses)).toBeGreaterThanOrEqual(ceiling / 2)
      expect(new Set(pauses).size).toBeGreaterThan(5)
    }
  })

  test('in seconds is waited for on the wire', async ({ server, client }) => {
    server.fail('ping', { kind: 'status', status: 429, retryAfter: '1' })
    await client.ping()
    const [first, second] = server.requestsOf('ping')
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(1_000 - TIMER_EARLY_MS)
  })

  test('in a date is waited for on the wire', async ({ server, client }) => {
    // A date has whole seconds only: half a second to one and a half from now, which is the longest these tests obey.
    const retryAfter = new Date(Date.now() + 1_500).toUTCString()
    server.fail('ping', { kind: 'status', status: 429, retryAfter })
    await client.ping()
    const [, second] = server.requestsOf('ping')
    expect(second?.atMs ?? 0).toBeGreaterThanOrEqual(Date.parse(retryAfter) - TIMER_EARLY_MS)
  })
})
