import { rm } from 'node:fs/promises'
import { describe, expect, it, vi } from 'vitest'
import { InterruptedError, VerificationError } from '../../../src/core/errors.js'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { regenerateVoice } from '../../../src/pipeline/voice/regenerate-voice.js'
import type { Fault, FaultOperation } from '../../helpers/fault-server.js'
import { jobBench } from '../../helpers/job-bench.js'
import { requestFor } from '../../helpers/test-pipeline.js'
import { addressOfVoice, smallVoice } from './small-voice.js'

const bench = jobBench()

const voice = () => smallVoice(bench)

const OPERATIONS: FaultOperation[] = [
  ...([
    'token',
    'registerFileFromUrl',
    'registerFile',
    'upload',
    'startProcess',
    'getFilesStatus',
    'getOutputFileUrl',
    'download',
  ] as const),
]
const ODD: Fault[] = [
  ...[400, 401, 402, 403, 404, 409, 410, 418, 429, 500, 503].map(
    (status): Fault => ({ kind: 'status', status, retryAfter: '0' }),
  ),
  { kind: 'reset' },
  { kind: 'reset-after' },
  { kind: 'truncated' },
  { kind: 'garbage' },
  { kind: 'wrong-shape' },
  { kind: 'answer', body: '' },
  { kind: 'answer', body: [] },
  { kind: 'answer', body: 'null' },
  { kind: 'answer', headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>Sign in' },
  { kind: 'answer', headers: { 'content-encoding': 'gzip' }, body: 'not gzip' },
  { kind: 'answer', headers: { 'content-encoding': 'of-a-proxy' }, body: 'odd' },
  { kind: 'answer', status: 204, body: '' },
  { kind: 'answer', status: 302, headers: { location: '/elsewhere' }, body: '' },
]

describe('one odd answer', () => {
  it.each(OPERATIONS)('to %s costs no second payment', async (operation) => {
    const { server, pipeline } = bench
    const rows: object[] = []
    const address = await addressOfVoice(bench)
    const byAddress = { source: { kind: 'address', address, clientFileId: 'voice' } } as const
    for (const fault of ODD) {
      const { request: uploaded, sent } = await voice()
      const request = operation === 'registerFileFromUrl' ? { ...uploaded, ...byAddress } : uploaded
      const before = server.charges
      server.heal()
      server.fail(operation, fault)
      // Some are worth an error, such as a 403; the same command again then attaches.
      const { judged } = await regenerateVoice(request, pipeline.context).catch(() =>
        regenerateVoice(request, pipeline.context),
      )
      rows.push({ fault, isGood: judged === sent, charges: server.charges - before })
    }
    expect(rows).toEqual(ODD.map((fault) => ({ fault, isGood: true, charges: 1 })))
  })
})

describe.each([
  { status: 'InProgress', errorCode: 0, progress: 60 },
  { status: 'Succeeded', errorCode: 0, progress: 100 },
] as const)('one odd status before %j', (next) => {
  it.each([
    { status: 'NotFound', errorCode: -11, progress: 0 },
    { status: 'Failed', errorCode: -1, progress: 0 },
    { status: 'Failed', errorCode: -12, progress: 0 },
    { status: 'Failed', errorCode: -3, progress: 0 },
    { status: 'Failed', errorCode: -19, progress: 0 },
    { status: 'Exploded', errorCode: -19, progress: 0 },
    { status: 'Exploded', errorCode: 0, progress: 'half' },
    { status: 'Pending', errorCode: 0, progress: 0 },
  ])('%j leads to no second registration', async (odd) => {
    const { request, sent } = await voice()
    const { context } = bench.pipeline
    bench.server.behaviour.states = (file) => {
      bench.server.fail('getFilesStatus', { kind: 'answer', body: [{ id: file.id, ...odd }] })
      bench.server.behaviour.states = [next, { status: 'Succeeded', errorCode: 0, progress: 100 }]
      return [{ status: 'InProgress', errorCode: 0, progress: 50 }]
    }
    expect((await regenerateVoice(request, context)).judged).toBe(sent)
    expect(bench.server.calls.registerFile).toBe(1)
    expect(bench.server.charges).toBe(1)
  })
})

describe('an interruption during the start', () => {
  it('still learns that the start was paid, and commits it', async () => {
    const { request } = await voice()
    const { server, pipeline } = bench
    server.fail('startProcess', { kind: 'slow', delayMs: 300 })
    const controller = new AbortController()
    const paid: number[] = []
    const progress = { signal: controller.signal, onPaid: (sec: number) => void paid.push(sec) }
    const run = regenerateVoice(request, pipeline.context, progress).catch((error: unknown) => error)
    await vi.waitFor(() => expect(server.calls.startProcess).toBe(1), { interval: 5, timeout: 10_000 })
    controller.abort(new InterruptedError())
    expect(await run).toMatchObject({ code: 'ERR_INTERRUPTED' })
    expect(await pipeline.context.spending.spent()).toMatchObject({ committedSec: 3, reservedSec: 0 })
    expect(paid).toEqual([3])
  })

  it.each([
    { isEmbedded: false, message: /^This run paid for 0:\d+\.\d+ of voice\.$/ },
    { isEmbedded: true, message: /^Interrupted\.$/ },
  ])('is reported with the amount, if something was paid: %j', async ({ isEmbedded, message }) => {
    const { server, pipeline } = bench
    const controller = new AbortController()
    server.behaviour.states = () => {
      controller.abort(new InterruptedError())
      return [{ status: 'InProgress', errorCode: 0, progress: 50 }]
    }
    const request = requestFor(await bench.take('speech.wav'))
    const { event } = await runJob(request, { ...pipeline.context, isEmbedded }, { signal: controller.signal })
    expect(event).toMatchObject({ status: 'pending', error: { code: 'ERR_INTERRUPTED' } })
    expect(event.error?.message).toMatch(message)
  })
})

describe('useless audio', () => {
  const useless: Fault = { kind: 'answer', body: '\0something else' }

  it('is downloaded again, and no cache keeps it', async () => {
    const { request, sent } = await voice()
    bench.server.fail('download', useless)
    const regenerated = await regenerateVoice(request, bench.pipeline.context)
    expect(regenerated).toMatchObject({ judged: sent, paidSec: 3, notes: [expect.stringContaining('at no cost')] })
    expect(bench.server.calls).toMatchObject({ registerFile: 1, download: 2 })
  })

  it('in the cache is thrown out and downloaded again', async () => {
    const { request, sent } = await voice()
    const { context } = bench.pipeline
    await regenerateVoice({ ...request, judge: async () => 'anything goes' }, context)
    await rm(request.audioPath)
    bench.server.fail('download', useless)
    let isFirst = true
    const judge = async (path: string, signal: AbortSignal) => {
      if (!isFirst) return request.judge(path, signal)
      isFirst = false
      throw new VerificationError('ERR_ANSWER_UNREADABLE', 'It is no voice.')
    }
    const regenerated = await regenerateVoice({ ...request, judge }, context)
    expect(regenerated).toMatchObject({ judged: sent, paidSec: 0 })
    expect(bench.server.calls).toMatchObject({ registerFile: 1, download: 3 })
  })

  it('twice is asked for again, once in the life of a voice, and said', async () => {
    const { request } = await voice()
    const { context } = bench.pipeline
    bench.server.behaviour.regenerate = () => Buffer.from('\0another voice')
    const failing = () => regenerateVoice(request, context).catch((error: unknown) => error)
    const error = await failing()
    expect(error).toMatchObject({ code: 'ERR_ANSWER_UNREADABLE', exitCode: 7 })
    const [first, second] = bench.server.files
    expect(String(error)).toContain(`The service returned unusable audio twice (file ids ${first?.id}, ${second?.id})`)
    expect(bench.server.calls).toMatchObject({ registerFile: 2, download: 4 })
    expect(await failing()).toMatchObject({ code: 'ERR_ANSWER_UNREADABLE' })
    expect(bench.server.charges).toBe(2)
    bench.server.behaviour.regenerate = (path) => path
  })

  it('is not paid for again if this computer cannot decode the voice that it sent either', async () => {
    const { request, sent } = await voice()
    const { context } = bench.pipeline
    const judge = () => Promise.reject(new VerificationError('ERR_ANSWER_UNREADABLE', 'No thread could be started.'))
    await expect(regenerateVoice({ ...request, judge }, context)).rejects.toMatchObject({
      ...{ code: 'ERR_DECODER_FAILS', exitCode: 4, remedies: [expect.stringContaining('do not pay twice')] },
    })
    expect(await regenerateVoice(request, context)).toMatchObject({ judged: sent, paidSec: 0 })
    expect(bench.server.charges).toBe(1)
  })

  it('of other bytes each time is the fault of the connection, and nothing more is paid', async () => {
    const { request, sent } = await voice()
    const { server, pipeline } = bench
    const damaged = (body: string): Fault => ({ kind: 'answer', body: `\0${body}` })
    for (const body of ['cut', 'cut elsewhere', 'spoilt']) server.fail('download', damaged(body))
    await expect(regenerateVoice(request, pipeline.context)).rejects.toMatchObject({
      ...{ code: 'ERR_DOWNLOAD_DAMAGED', exitCode: 4, remedies: [expect.stringContaining('costs nothing')] },
    })
    expect(server.calls).toMatchObject({ registerFile: 1, download: 3 })
    for (const body of ['cut', 'cut elsewhere']) server.fail('download', damaged(body))
    expect(await regenerateVoice(request, pipeline.context)).toMatchObject({ judged: sent, paidSec: 0 })
    expect(server.charges).toBe(1)
  })

  it('is never a page of the network: nothing is paid again, and a later run gets the voice', async () => {
    const { request, sent } = await voice()
    const { server, pipeline } = bench
    const page: Fault = { kind: 'answer', body: '<!-- a gate -->Sign in' }
    server.fail('download', page, Number.POSITIVE_INFINITY)
    await expect(regenerateVoice(request, pipeline.context)).rejects.toMatchObject({ exitCode: 4 })
    server.heal()
    server.fail('download', page, 2)
    expect(await regenerateVoice(request, pipeline.context)).toMatchObject({ judged: sent, paidSec: 0 })
    expect(server.calls.registerFile).toBe(1)
    expect(server.charges).toBe(1)
  })

  it.each(['ERR_ALIGNMENT', 'ERR_ALIGNMENT_DRIFT', 'ERR_ANSWER_CHANNELS'] as const)(
    'that is decodable is kept and not paid for again: %s',
    async (code) => {
      const { request, sent } = await voice()
      const judge = async () => {
        throw new VerificationError(code, 'It does not fit.')
      }
      const run = () => regenerateVoice({ ...request, judge }, bench.pipeline.context)
      await expect(run()).rejects.toMatchObject({ code, exitCode: 7 })
      await rm(request.audioPath)
      await expect(run()).rejects.toMatchObject({ code, exitCode: 7 })
      expect(bench.server.calls).toMatchObject({ registerFile: 1, download: 2 })
      expect(bench.server.charges).toBe(1)
      await rm(request.audioPath)
      // An update can judge it otherwise.
      expect(await regenerateVoice(request, bench.pipeline.context)).toMatchObject({ judged: sent, paidSec: 0 })
      expect(bench.server.calls).toMatchObject({ registerFile: 1, download: 2 })
    },
  )
})
