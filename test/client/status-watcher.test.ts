import { describe, expect, vi } from 'vitest'
import { resolveClientOptions } from '../../src/client/client-options.js'
import type { FileStatus } from '../../src/client/index.js'
import { dueBatch, nextRoundAtMs, type PolledFile, pollPauseMs } from '../../src/client/polled-file.js'
import { AccessError, InterruptedError, TransientError } from '../../src/core/errors.js'
import type { Fault, ScriptedStatus } from '../helpers/fault-server.js'
import { until } from '../helpers/until.js'
import { errorOf, impatientFor, QUICK, test } from './harness.js'

const PENDING: ScriptedStatus = { status: 'Pending', errorCode: 0, progress: 0 }
const HALF: ScriptedStatus = { status: 'InProgress', errorCode: 0, progress: 50 }
const DONE: ScriptedStatus = { status: 'Succeeded', errorCode: 0, progress: 100 }

describe('waiting for a file', () => {
  test('tells each change once and ends with success', async ({ server, client, finished }) => {
    server.behaviour.states = [PENDING, PENDING, HALF, HALF, { ...HALF, progress: 75 }, DONE]
    const { file_id } = await client.registerFile({ clientFileId: 'a' })
    const seen: string[] = []
    const onStatus = ({ status, progress }: FileStatus) => void seen.push(`${status} ${progress}`)
    const started = finished(10)
    const waiting = client.waitFor(file_id, { onStatus }).catch(() => {})
    const { fileId } = await started
    await client.waitFor(fileId, { onStatus })
    expect(seen.at(-1)).toBe('Succeeded 100')
    expect(seen.filter((line) => line === 'Pending 0')).toHaveLength(1)
    client.close()
    await waiting
  })

  test.for([
    [{ status: 'Failed', errorCode: -3, progress: 20 }, 'ERR_FILE_FAILED', -3, 'NotEnoughVoice'],
    [{ status: 'Failed', errorCode: 0, progress: 20 }, 'ERR_FILE_FAILED', -1, 'SystemError'],
    [{ status: 'NotFound', errorCode: -11, progress: 0 }, 'ERR_NOT_FOUND', -11, 'NotFound'],
    [{ status: 'NotFound', errorCode: 0, progress: 0 }, 'ERR_NOT_FOUND', -11, 'NotFound'],
  ] as [ScriptedStatus, string, number, string][])(
    '%j is %s',
    async ([state, code, errorCode, errorName], { server, client }) => {
      server.fail('getFilesStatus', { kind: 'answer', body: [{ id: 'a', ...state }] }, Number.POSITIVE_INFINITY)
      const error = await errorOf(client.waitFor('a'))
      expect(error).toMatchObject({ code, errorCode, errorName, exitCode: 1 })
      expect((error as { remedies?: string[] }).remedies?.length).toBeGreaterThan(0)
    },
  )

  test('a file just registered may be NotFound for a moment', async ({ server, connect, finished }) => {
    const client = connect({ polling: { ...QUICK.polling, notFoundGraceMs: 60_000 } })
    const { fileId } = await finished(10)
    const missing = { id: fileId, status: 'NotFound', errorCode: -11, progress: 0 }
    server.fail('getFilesStatus', { kind: 'answer', body: [missing] }, 2)
    expect(await client.waitFor(fileId)).toMatchObject({ status: 'Succeeded' })
  })

  test('continues when the clock is set back', async ({ client, server, file }) => {
    server.behaviour.states = [...Array.from({ length: 4 }, () => HALF), DONE]
    const { file_id } = await client.registerAndUpload({ clientFileId: 'a' }, (await file(5)).path)
    await client.startOnce(file_id)
    const clock = vi.spyOn(Date, 'now')
    const anHourAgoMs = Date.now() - 3_600_000
    try {
      const onStatus = () => clock.mockReturnValue(anHourAgoMs)
      expect(await client.waitFor(file_id, { onStatus })).toMatchObject({ status: 'Succeeded' })
    } finally {
      clock.mockRestore()
    }
  })

  test('ends at an abort, and the questions with it', async ({ server, client }) => {
    const { file_id } = await client.registerFile({ clientFileId: 'a' })
    const stop = new AbortController()
    const waiting = errorOf(client.waitFor(file_id, { signal: stop.signal, onStatus: () => stop.abort() }))
    expect(await waiting).toBeInstanceOf(InterruptedError)
    const before = server.calls.getFilesStatus
    await client.ping()
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(server.calls.getFilesStatus).toBe(before)
  })

  test('a file that is awaited anew is not lost to the response of a request from before', async ({
    server,
    connect,
    file,
  }) => {
    const hangs: Fault = { kind: 'hang' }
    server.behaviour.states = [DONE]
    const client = connect(impatientFor(hangs))
    const started = async () => {
      const { file_id } = await client.registerAndUpload({ clientFileId: 'a.wav' }, (await file(10)).path)
      await client.startOnce(file_id)
      return file_id
    }
    const [first, other] = [await started(), await started()]
    server.fail('getFilesStatus', hangs)
    const stop = new AbortController()
    const aborted = errorOf(client.waitFor(first, { signal: stop.signal }))
    await until(() => server.calls.getFilesStatus === 1)
    const others = client.waitFor(other)
    stop.abort()
    expect(await aborted).toBeInstanceOf(InterruptedError)
    expect(await client.waitFor(first)).toMatchObject({ id: first, status: 'Succeeded' })
    expect(await others).toMatchObject({ id: other, status: 'Succeeded' })
  })

  test('an abort of one leaves another waiting for the same file', async ({ client, server, file }) => {
    server.behaviour.states = [...Array.from({ length: 10 }, () => HALF), DONE]
    const { file_id } = await client.registerAndUpload({ clientFileId: 'a' }, (await file(5)).path)
    await client.startOnce(file_id)
    const stop = new AbortController()
    const aborted = errorOf(client.waitFor(file_id, { signal: stop.signal }))
    const other = client.waitFor(file_id)
    stop.abort()
    expect(await aborted).toBeInstanceOf(InterruptedError)
    expect(await other).toMatchObject({ status: 'Succeeded' })
  })

  test('a listener that throws ends nobody else’s waiting', async ({ client, finished }) => {
    const { fileId } = await finished(5)
    const onStatus = () => {
      throw new Error('mine')
    }
    expect(await client.waitFor(fileId, { onStatus })).toMatchObject({ status: 'Succeeded' })
  })
})

describe('one poller', () => {
  test('asks for many files of several clients in one request, a hundred at most', async ({ server, connect }) => {
    const clients = [connect(), connect(), connect()]
    const stop = new AbortController()
    const waiting = Array.from({ length: 150 }, (_, index) =>
      errorOf(clients[index % 3]?.waitFor(`id-${index}`, { signal: stop.signal }) ?? Promise.resolve()),
    )
    // On a busy machine all of them may be NotFound for long enough before a fifth request.
    await until(() => server.calls.getFilesStatus > 1)
    stop.abort()
    await Promise.all(waiting)
    const asked = server.requestsOf('getFilesStatus').map(({ body }) => (body as { fileIds: string[] }).fileIds)
    expect(asked[0]).toHaveLength(100)
    expect(new Set(asked.slice(0, 2).flat()).size).toBe(150)
    expect(Math.max(...asked.map((ids) => ids.length))).toBe(100)
    expect(server.calls.token).toBe(1)
  })

  test('is not shared by another identity', async ({ server, connect }) => {
    await connect().getFilesStatus(['a'])
    expect((await errorOf(connect({ clientSecret: 'another-secret' }).getFilesStatus(['a']))).code).toBe(
      'ERR_AUTH_FAILED',
    )
    expect(server.calls.token).toBe(2)
  })

  test('goes on for the others when one client closes', async ({ server, connect, finished }) => {
    const { fileId } = await finished(5)
    const closing = connect()
    const lasting = connect()
    server.fail('getFilesStatus', { kind: 'answer', body: [{ id: fileId, ...HALF }] }, 5)
    const ended = errorOf(closing.waitFor(fileId))
    const waiting = lasting.waitFor(fileId)
    closing.close()
    expect(await ended).toBeInstanceOf(InterruptedError)
    expect(await waiting).toMatchObject({ status: 'Succeeded' })
  })

  test.for([{ kind: 'status', status: 503 }, { kind: 'reset' }, { kind: 'garbage' }] as Fault[])(
    'comes through whole rounds that fail with %j',
    async (fault, { server, client, finished }) => {
      const { fileId } = await finished(5)
      server.fail('getFilesStatus', fault, 2 * (QUICK.retry.limit + 1))
      expect(await client.waitFor(fileId)).toMatchObject({ status: 'Succeeded' })
    },
  )

  test('tells all who wait of an outage that lasts', async ({ server, connect }) => {
    const client = connect({ polling: { ...QUICK.polling, outageMs: 50 } })
    server.fail('getFilesStatus', { kind: 'status', status: 503 }, Number.POSITIVE_INFINITY)
    const errors = await Promise.all(['a', 'b', 'c'].map((id) => errorOf(client.waitFor(id))))
    for (const error of errors) expect(error).toBeInstanceOf(TransientError)
  })

  test.for([
    [401, 'ERR_AUTH_FAILED'],
    [403, 'ERR_ACCESS_DENIED'],
  ] as const)('tells all who wait of a %i at once', async ([status, code], { server, client }) => {
    server.fail('getFilesStatus', { kind: 'status', status }, Number.POSITIVE_INFINITY)
    const errors = await Promise.all(['a', 'b', 'c'].map((id) => errorOf(client.waitFor(id))))
    for (const error of errors) {
      expect(error).toBeInstanceOf(AccessError)
      expect(error.code).toBe(code)
    }
    expect(server.calls.getFilesStatus).toBeLessThanOrEqual(2)
  })

  test('asks alone for files that were refused together', async ({ server, client, finished }) => {
    const { fileId } = await finished(5)
    server.fail('getFilesStatus', { kind: 'status', status: 400 })
    const stop = new AbortController()
    const other = errorOf(client.waitFor('other', { signal: stop.signal }))
    expect(await client.waitFor(fileId)).toMatchObject({ status: 'Succeeded' })
    stop.abort()
    await other
    const last = server.requestsOf('getFilesStatus').at(-1)?.body as { fileIds: string[] }
    expect(last.fileIds).toHaveLength(1)
  })

  test('a notification wakes it, and makes it ask less often meanwhile', async ({ server, connect, finished }) => {
    const polling = { minMs: 30_000, maxMs: 60_000 }
    const client = connect({ polling })
    const { fileId } = await finished(5)
    const progress: number[] = []
    server.fail('getFilesStatus', { kind: 'answer', body: [{ id: fileId, ...HALF }] })
    const waiting = client.waitFor(fileId, { onStatus: (status) => void progress.push(status.progress) })
    await expect.poll(() => progress).toEqual([50])
    client.notify(fileId, { id: fileId, status: 'InProgress', errorCode: 0, progress: 80 })
    expect(progress).toEqual([50, 80])
    client.notify('somebody else')
    client.notify(fileId)
    expect(await waiting).toMatchObject({ status: 'Succeeded' })
    expect(progress).toEqual([50, 80, 100])
  })
})

describe('the pause between two questions', () => {
  const { polling } = resolveClientOptions({
    baseUrl: 'https://a.example',
    authUrl: 'https://a.example',
    tenantId: 't',
    clientId: 'c',
    clientSecret: 's',
    scope: 'x',
  })
  const watched = (id: string, fields: Partial<PolledFile> = {}): PolledFile => ({
    id,
    sinceMs: 0,
    waiters: new Set(),
    nextAtMs: 0,
    last: null,
    changedMs: 0,
    notFoundSinceMs: null,
    unansweredSinceMs: null,
    alone: false,
    ...fields,
  })

  test.for([
    [0, 250],
    [2_000, 250],
    [8_000, 1_000],
    [40_000, 5_000],
    [4_000_000, 5_000],
  ])('after %i ms is about %i ms', ([elapsedMs = 0, wantedMs = 0]) => {
    for (let turn = 0; turn < 20; turn++) {
      const pause = pollPauseMs(watched('a'), polling, elapsedMs, false)
      expect(pause).toBeGreaterThanOrEqual(wantedMs * 0.95 - 1)
      expect(pause).toBeLessThanOrEqual(wantedMs * 1.05 + 1)
    }
  })

  test('is shorter towards the end, by what the progress says is left', () => {
    const last = { id: 'a', status: 'InProgress', errorCode: 0, progress: 99 } as const
    expect(pollPauseMs(watched('a', { last }), polling, 99_000, false)).toBeLessThanOrEqual(525)
  })

  test('is longer while webhooks arrive', () => {
    expect(pollPauseMs(watched('a'), polling, 0, true)).toBeGreaterThanOrEqual(polling.hookedMs * 0.95)
  })

  test('a batch has what is due, oldest first, a bounded number', () => {
    const files = [3, 1, 2, 9].map((nextAtMs) => watched(`at-${nextAtMs}`, { nextAtMs }))
    expect(dueBatch(files, 5, 2).map(({ id }) => id)).toEqual(['at-1', 'at-2'])
    expect(dueBatch([watched('x', { alone: true }), ...files], 5, 9).map(({ id }) => id)).toEqual(['x'])
    expect(dueBatch([...files, watched('x', { alone: true, nextAtMs: 4 })], 5, 9).map(({ id }) => id)).toEqual([
      'at-1',
      'at-2',
      'at-3',
    ])
  })

  test('a request that is sent anyway takes along whoever may, after those who are due', () => {
    const files = [
      watched('later', { nextAtMs: 40, earliestAtMs: 5 }),
      watched('due', { nextAtMs: 4, earliestAtMs: 2 }),
      watched('asked just now', { nextAtMs: 30, earliestAtMs: 8 }),
      watched('soon', { nextAtMs: 20, earliestAtMs: 1 }),
    ]
    expect(dueBatch(files, 5, 9).map(({ id }) => id)).toEqual(['due', 'soon', 'later'])
    expect(dueBatch(files, 5, 2).map(({ id }) => id)).toEqual(['due', 'soon'])
  })

  test('requests keep the shortest pause, unless one is full or somebody is asked for at once', () => {
    const at = (...times: number[]) => times.map((nextAtMs) => watched(`at-${nextAtMs}`, { nextAtMs }))
    expect(nextRoundAtMs(at(10, 20, 300), 250, 3)).toBe(250)
    expect(nextRoundAtMs(at(300, 400), 250, 3)).toBe(300)
    expect(nextRoundAtMs(at(10, 20, 30, 300), 250, 3)).toBe(10)
    expect(nextRoundAtMs(at(10, 0, 300), 250, 3)).toBe(0)
    expect(nextRoundAtMs(at(5), Number.NEGATIVE_INFINITY, 3)).toBe(5)
  })
})
