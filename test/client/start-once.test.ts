import { describe, expect } from 'vitest'
import type { VoxmuxClient } from '../../src/client/index.js'
import { InterruptedError, JobFailedError } from '../../src/core/errors.js'
import type { Fault } from '../helpers/fault-server.js'
import { until } from '../helpers/until.js'
import { errorOf, impatientFor, test } from './harness.js'

async function uploaded(client: VoxmuxClient, path: string): Promise<string> {
  return (await client.registerAndUpload({ clientFileId: 'a.wav' }, path)).file_id
}

/** The answer is lost after the work was done. */
const LOST: Fault[] = [
  ...([{ kind: 'reset-after' }, { kind: 'truncated' }, { kind: 'garbage' }, { kind: 'wrong-shape' }] as const),
  { kind: 'status', status: 408, done: true },
  { kind: 'status', status: 504, done: true },
  { kind: 'start-error', code: 504, done: true },
]
/** The work was not done, but nobody can tell from the answer. */
const UNDONE: Fault[] = [
  { kind: 'reset' },
  { kind: 'switch' },
  { kind: 'status', status: 500 },
  { kind: 'status', status: 408 },
  { kind: 'status', status: 503 },
  { kind: 'start-error', code: 500 },
  { kind: 'start-error', code: 504 },
  { kind: 'answer', body: { file_id: 'another', error: null } },
  { kind: 'hang' },
]

describe('startProcess', () => {
  test.for([...LOST, ...UNDONE])(
    '%j is not repeated: it may have arrived',
    async (fault, { server, connect, file }) => {
      const client = connect(impatientFor(fault))
      const fileId = await uploaded(client, (await file(10)).path)
      server.fail('startProcess', fault)
      expect(await errorOf(client.startProcess(fileId))).toMatchObject({ exitCode: 4 })
      expect(server.calls.startProcess).toBe(1)
    },
  )

  test.for([
    { kind: 'status', status: 425 },
    { kind: 'status', status: 429 },
    { kind: 'start-error', code: 429 },
  ] as Fault[])('%j was surely not accepted, and is repeated', async (fault, { server, connect, file }) => {
    const client = connect(impatientFor(fault))
    const fileId = await uploaded(client, (await file(10)).path)
    server.fail('startProcess', fault, 2)
    expect(await client.startProcess(fileId)).toEqual({ file_id: fileId, error: null })
    expect(server.calls.startProcess).toBe(3)
  })

  test.for([
    [400, 'ERR_START_REFUSED', undefined],
    [401, 'ERR_AUTH_FAILED', undefined],
    [402, 'ERR_START_REFUSED', -10],
    [403, 'ERR_ACCESS_DENIED', undefined],
    [404, 'ERR_NOT_FOUND', -11],
    [409, 'ERR_START_CONFLICT', undefined],
    [200, 'ERR_START_REFUSED', undefined],
  ] as const)('an error object of %i is final: %s', async ([code, expected, errorCode], { server, client, file }) => {
    const fileId = await uploaded(client, (await file(10)).path)
    server.fail('startProcess', { kind: 'start-error', code, message: 'no' })
    expect(await errorOf(client.startProcess(fileId))).toMatchObject({ code: expected, errorCode })
    expect(server.calls).toMatchObject({ startProcess: 1, token: 1 })
  })

  test('a start before the upload is a conflict', async ({ client }) => {
    const { file_id } = await client.registerFile({ clientFileId: 'a' })
    const error = await errorOf(client.startProcess(file_id))
    expect(error).toBeInstanceOf(JobFailedError)
    expect(error.code).toBe('ERR_START_CONFLICT')
  })
})

describe('startOnce', () => {
  test('starts', async ({ server, client, file }) => {
    const fileId = await uploaded(client, (await file(10)).path)
    expect(await client.startOnce(fileId)).toEqual({ fileId, how: 'started', status: null })
    expect(server.calls.getFilesStatus).toBe(0)
  })

  test.for(LOST)('%j: the status shows that the request had arrived', async (fault, { server, connect, file }) => {
    const client = connect(impatientFor(fault))
    const fileId = await uploaded(client, (await file(10)).path)
    server.fail('startProcess', fault)
    expect(await client.startOnce(fileId)).toMatchObject({ how: 'found-started', status: { id: fileId } })
    expect(server.calls.startProcess).toBe(1)
    expect(server.charges).toBe(1)
  })

  test.for(UNDONE)(
    '%j: the status shows that it had not, and it is started',
    async (fault, { server, connect, file }) => {
      const client = connect(impatientFor(fault))
      const fileId = await uploaded(client, (await file(10)).path)
      server.fail('startProcess', fault)
      expect(await client.startOnce(fileId)).toMatchObject({ how: 'started' })
      expect(server.calls.startProcess).toBe(2)
      expect(server.charges).toBe(1)
    },
  )

  test('waits as long as a busy service asks before it starts again', async ({ server, connect, file }) => {
    const client = connect({ retry: { limit: 2, baseMs: 1, maxMs: 2, retryAfterMaxMs: 300 } })
    const fileId = await uploaded(client, (await file(10)).path)
    server.fail('startProcess', { kind: 'status', status: 503, retryAfter: '1' })
    await client.startOnce(fileId)
    const [first, second] = server.requestsOf('startProcess').map(({ atMs }) => atMs)
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(290)
  })

  const repeats = LOST.flatMap((fault) => (['accepted', 'conflict'] as const).map((how) => [fault, how] as const))
  for (const [fault, repeatedStart] of repeats) {
    test(`${JSON.stringify(fault)}: a Pending file is started again by the same id, paid once (${repeatedStart})`, async ({
      server,
      client,
      file,
    }) => {
      server.behaviour.repeatedStart = repeatedStart
      server.behaviour.states = [{ status: 'Pending', errorCode: 0, progress: 0 }]
      const fileId = await uploaded(client, (await file(10)).path)
      server.fail('startProcess', fault)
      const outcome = await client.startOnce(fileId)
      expect(outcome.how).toBe(repeatedStart === 'accepted' ? 'started' : 'found-started')
      expect(server.requestsOf('startProcess').map(({ body }) => (body as { file_id: string }).file_id)).toEqual([
        fileId,
        fileId,
      ])
      expect(server.charges).toBe(1)
    })
  }

  test('a start on its way moves a Pending file on, and is not repeated', async ({ server, client, file }) => {
    server.behaviour.states = [
      { status: 'Pending', errorCode: 0, progress: 0 },
      { status: 'InProgress', errorCode: 0, progress: 1 },
    ]
    const fileId = await uploaded(client, (await file(10)).path)
    server.fail('startProcess', { kind: 'reset-after' })
    expect(await client.startOnce(fileId)).toMatchObject({ how: 'found-started', status: { status: 'InProgress' } })
    expect(server.calls.startProcess).toBe(1)
  })

  test('one InProgress is no sign of a start: a file that was never started would be waited for for ever', async ({
    server,
    client,
    file,
  }) => {
    const fileId = await uploaded(client, (await file(10)).path)
    const body = [{ id: fileId, status: 'InProgress', errorCode: 0, progress: 0 }]
    server.fail('startProcess', { kind: 'status', status: 503 })
    server.fail('getFilesStatus', { kind: 'answer', body })
    expect(await client.startOnce(fileId)).toMatchObject({ how: 'started' })
    expect(server.charges).toBe(1)
  })

  test('a first conflict is no sign of an earlier start', async ({ client }) => {
    const { file_id } = await client.registerFile({ clientFileId: 'a' })
    expect((await errorOf(client.startOnce(file_id))).code).toBe('ERR_START_CONFLICT')
  })

  test('one 404 is no sign that the file is gone', async ({ server, client, file }) => {
    const fileId = await uploaded(client, (await file(10)).path)
    server.fail('startProcess', { kind: 'status', status: 404 })
    server.fail('getFilesStatus', {
      kind: 'answer',
      body: [{ id: fileId, status: 'NotFound', errorCode: -11, progress: 0 }],
    })
    expect(await client.startOnce(fileId)).toMatchObject({ fileId, how: 'started' })
    expect(server.charges).toBe(1)
  })

  test('one conflict is no sign that the file cannot be started', async ({ server, client, file }) => {
    const fileId = await uploaded(client, (await file(10)).path)
    await client.startProcess(fileId)
    server.fail('startProcess', { kind: 'status', status: 409 })
    expect(await client.startOnce(fileId)).toMatchObject({ fileId, how: 'found-started' })
    expect(server.charges).toBe(1)
  })

  test('gives up with the last error where it never gets through', async ({ server, client, file }) => {
    const fileId = await uploaded(client, (await file(10)).path)
    server.fail('startProcess', { kind: 'status', status: 500 }, Number.POSITIVE_INFINITY)
    expect(await errorOf(client.startOnce(fileId))).toMatchObject({ code: 'ERR_SERVICE_BUSY', exitCode: 4 })
    expect(server.calls.startProcess).toBe(4)
    expect(server.charges).toBe(0)
  })
})

describe('a start that may not be sent any more', () => {
  test('is not repeated when its permission ends', async ({ server, client, file }) => {
    const fileId = await uploaded(client, (await file(10)).path)
    server.fail('startProcess', { kind: 'status', status: 429 }, 2)
    let asked = 0
    const beforeSend = async () => {
      asked += 1
      if (asked === 2) throw new Error('the lease is lost')
    }
    await expect(client.startOnce(fileId, {}, { beforeSend })).rejects.toThrow('the lease is lost')
    expect(server.calls.startProcess).toBe(1)
  })

  test('is awaited after an abort, and not sent again', async ({ server, connect, file }) => {
    const hangs: Fault = { kind: 'hang' }
    const client = connect(impatientFor(hangs))
    const fileId = await uploaded(client, (await file(10)).path)
    server.fail('startProcess', hangs)
    const stop = new AbortController()
    const ended = errorOf(client.startProcess(fileId, {}, { signal: stop.signal }))
    await until(() => server.calls.startProcess === 1)
    stop.abort()
    expect(await ended).toMatchObject({ exitCode: 4 })
    expect(await errorOf(client.startOnce(fileId, {}, { signal: stop.signal }))).toBeInstanceOf(InterruptedError)
    expect(server.calls.startProcess).toBe(1)
  })
})

describe('resumeStart', () => {
  test('does not take NotFound for a start', async ({ server, client, file }) => {
    const fileId = await uploaded(client, (await file(10)).path)
    const body = [{ id: fileId, status: 'NotFound', errorCode: -11, progress: 0 }]
    server.fail('getFilesStatus', { kind: 'answer', body })
    expect(await client.resumeStart(fileId)).toMatchObject({ fileId, how: 'started' })
    expect(server.charges).toBe(1)
  })

  test('asks first, and leaves a started file alone', async ({ server, client, file }) => {
    const fileId = await uploaded(client, (await file(10)).path)
    await client.startOnce(fileId)
    expect(await client.resumeStart(fileId)).toMatchObject({ how: 'found-started' })
    expect(server.calls.startProcess).toBe(1)
  })

  test('starts one that was not started', async ({ server, client, file }) => {
    const fileId = await uploaded(client, (await file(10)).path)
    expect(await client.resumeStart(fileId)).toMatchObject({ how: 'started' })
    expect(server.charges).toBe(1)
  })

  test('takes a conflict for the trace of the start before the crash', async ({ server, client, file }) => {
    server.behaviour.repeatedStart = 'conflict'
    server.behaviour.states = [{ status: 'Pending', errorCode: 0, progress: 0 }]
    const fileId = await uploaded(client, (await file(10)).path)
    await client.startOnce(fileId)
    expect(await client.resumeStart(fileId)).toMatchObject({ how: 'found-started' })
    expect(server.charges).toBe(1)
  })
})
