import { rm } from 'node:fs/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openLedger } from '../../../src/ledger/index.js'
import { regenerateVoice } from '../../../src/pipeline/voice/regenerate-voice.js'
import type { VoiceServiceContext } from '../../../src/pipeline/voice/voice-service.js'
import { jobBench } from '../../helpers/job-bench.js'
import { until } from '../../helpers/until.js'
import { smallVoice } from './small-voice.js'

const bench = jobBench()
const voice = () => smallVoice(bench)
const SUCCEEDED = { status: 'Succeeded', errorCode: 0, progress: 100 } as const
const NO_CREDITS = { status: 'Failed', errorCode: -10, progress: 0 } as const
const PENDING = { status: 'Pending', errorCode: 0, progress: 0 } as const

describe('a start that a proxy sends twice', () => {
  it('is reported as a conflict while the file waits in the queue, and is paid once', async () => {
    const { request, sent } = await voice()
    const { server, pipeline } = bench
    server.behaviour.repeatedStart = 'conflict'
    server.behaviour.states = () => {
      const isOver = server.calls.upload > 1
      return [isOver ? { status: 'Succeeded', errorCode: 0, progress: 100 } : PENDING]
    }
    server.fail('startProcess', { kind: 'start-error', code: 409, done: true })
    expect(await regenerateVoice(request, pipeline.context)).toMatchObject({ judged: sent, paidSec: 3 })
    expect(server.charges).toBe(1)
    expect(await pipeline.context.spending.spent()).toMatchObject({ committedSec: 3, reservedSec: 0 })
  })
})

describe('a start that a proxy sends twice, for a file whose link is refused then', () => {
  it('is paid once', async () => {
    const { request, sent } = await voice()
    const { server, pipeline } = bench
    server.behaviour.repeatedStart = 'conflict'
    let isOver = false
    server.behaviour.states = () => {
      server.expireLinks()
      return [isOver ? SUCCEEDED : PENDING]
    }
    server.fail('startProcess', { kind: 'start-error', code: 409, done: true })
    const regenerated = regenerateVoice(request, pipeline.context)
    await until(() => server.calls.upload > 1)
    isOver = true
    expect(await regenerated).toMatchObject({ judged: sent, paidSec: 3 })
    expect(server.charges).toBe(1)
    expect(await pipeline.context.spending.spent()).toMatchObject({ committedSec: 3, reservedSec: 0 })
  })
})

describe('a start that a proxy sends twice, for a file whose storage accepts no other bytes then', () => {
  it.each([409, 412])('(status %i) is paid once', async (status) => {
    const { request, sent } = await voice()
    const { server, pipeline } = bench
    server.behaviour.repeatedStart = 'conflict'
    server.behaviour.states = () => [server.calls.upload > 1 ? SUCCEEDED : PENDING]
    server.fail('startProcess', { kind: 'start-error', code: 409, done: true })
    server.fail('upload', { kind: 'slow', delayMs: 0 })
    server.fail('upload', { kind: 'status', status })
    expect(await regenerateVoice(request, pipeline.context)).toMatchObject({ judged: sent, paidSec: 3 })
    expect(server.charges).toBe(1)
  })
})

describe('a voice whose bytes the storage confirms and loses', () => {
  it('ends each run with an error, and nothing is paid', async () => {
    const { request, sent } = await voice()
    const { server, pipeline } = bench
    server.storage.losesUploads = true
    for (let run = 0; run < 2; run++) {
      await expect(regenerateVoice(request, pipeline.context)).rejects.toMatchObject({
        ...{ code: 'ERR_START_UNCONFIRMED', exitCode: 4 },
        remedies: [expect.stringContaining('again later'), expect.stringContaining('bytes')],
      })
    }
    const late = regenerateVoice(request, pipeline.context, { waitUntilMs: 0 })
    await expect(late).rejects.toMatchObject({ code: 'ERR_STILL_RUNNING', exitCode: 3 })
    expect([server.charges, server.calls.registerFile, server.calls.upload]).toEqual([0, 1, 2])
    expect(await pipeline.context.spending.spent()).toMatchObject({ committedSec: 0 })
    const [file] = server.files
    if (file) file.uploaded = true
    expect(await regenerateVoice(request, pipeline.context)).toMatchObject({ judged: sent, paidSec: 3 })
    expect(server.charges).toBe(1)
  })

  it('is sent again when the operator of the service has deleted its file', async () => {
    const { request, sent } = await voice()
    const { server, pipeline } = bench
    server.storage.losesUploads = true
    await expect(regenerateVoice(request, pipeline.context)).rejects.toMatchObject({ code: 'ERR_START_UNCONFIRMED' })
    server.storage.losesUploads = false
    const gone = { id: server.files[0]?.id, status: 'NotFound', errorCode: -11, progress: 0 }
    // Once before the start, and three times after its 404.
    server.fail('getFilesStatus', { kind: 'answer', body: [gone] }, 4)
    server.fail('startProcess', { kind: 'status', status: 404 })
    expect(await regenerateVoice(request, pipeline.context)).toMatchObject({ judged: sent, paidSec: 3 })
    expect([server.charges, server.calls.registerFile]).toEqual([1, 2])
    expect(await pipeline.context.spending.spent()).toMatchObject({ committedSec: 3, reservedSec: 0 })
  })

  it('is uploaded to the same file again if the first start was lost too', async () => {
    const { request, sent } = await voice()
    const { server, pipeline } = bench
    server.storage.losesUploads = true
    server.behaviour.states = () => {
      server.storage.losesUploads = false
      return server.files[0]?.uploaded ? [SUCCEEDED] : [PENDING]
    }
    server.fail('startProcess', { kind: 'reset' })
    expect(await regenerateVoice(request, pipeline.context)).toMatchObject({ judged: sent, paidSec: 3 })
    expect([server.charges, server.calls.registerFile, server.calls.upload]).toEqual([1, 1, 2])
  })
})

describe('a run that was killed while it started a file', () => {
  /** Leaves the voice as a crash does between the intent to start and the request. */
  const intend = async (
    { request }: Awaited<ReturnType<typeof voice>>,
    isSent: boolean,
    context = bench.pipeline.context as VoiceServiceContext,
  ) => {
    const { server } = bench
    server.fail('startProcess', isSent ? { kind: 'status', status: 403, done: true } : { kind: 'status', status: 403 })
    await expect(regenerateVoice(request, context)).rejects.toMatchObject({ exitCode: 6 })
    expect(server.charges).toBe(isSent ? 1 : 0)
  }

  it.each([
    { isSent: false, paidSec: 3 },
    { isSent: true, paidSec: 0 },
  ])('is told what the next run pays: %j', async ({ isSent, paidSec }) => {
    const own = await voice()
    await intend(own, isSent)
    const paid: number[] = []
    const progress = { onPaid: (sec: number) => void paid.push(sec) }
    expect(await regenerateVoice(own.request, bench.pipeline.context, progress)).toMatchObject({ paidSec })
    expect(paid).toEqual(isSent ? [] : [3])
    expect(bench.server.charges).toBe(1)
  })

  it('pays for it on the day on which it is started, within the limit of that day', async () => {
    const { context } = bench.pipeline
    const on = async (day: string) => {
      const now = () => Date.parse(`${day}T12:00:00Z`)
      const ledger = await openLedger(bench.folder.file('state/ledger.sqlite'), { now })
      onTestFinished(() => ledger.close())
      return { ...context, voices: ledger.voices, spending: ledger.spending }
    }
    const [first, second] = [await on('2026-03-01'), await on('2026-03-02')]
    const left = await voice()
    await intend(left, false, first)
    const limited = { ...second, maxSecondsPerDay: 4 }
    await second.spending.reserve('another file', 3, limited)
    await second.spending.commit('another file', 3)
    await expect(regenerateVoice(left.request, limited)).rejects.toMatchObject({ code: 'ERR_SPENDING_LIMIT' })
    expect(bench.server.charges).toBe(0)
    await regenerateVoice(left.request, second)
    expect(await first.spending.spent()).toMatchObject({ committedSec: 0, reservedSec: 0 })
    expect(await second.spending.spent()).toMatchObject({ committedSec: 6, reservedSec: 0 })
  })
})

describe('a file that was given up', () => {
  const giveUp = async (errorCode: -3 | -11) => {
    const { request, sent } = await voice()
    const status = errorCode === -11 ? 'NotFound' : 'Failed'
    bench.server.behaviour.states = [{ status, errorCode, progress: 0 }]
    await expect(regenerateVoice(request, bench.pipeline.context)).rejects.toMatchObject({ errorCode })
    return { request, sent }
  }

  it.each([
    [-11, [SUCCEEDED]],
    [-11, [PENDING, SUCCEEDED]],
    [-3, [{ status: 'InProgress', errorCode: 0, progress: 5 }, SUCCEEDED]],
  ] as const)('with %i is taken up by the next run if the service has it again: %j', async (errorCode, states) => {
    const { request, sent } = await giveUp(errorCode)
    const { server, pipeline } = bench
    server.behaviour.states = () => [
      states[Math.min(server.calls.getFilesStatus - asked - 1, states.length - 1)] ?? SUCCEEDED,
    ]
    const asked = server.calls.getFilesStatus
    expect(await regenerateVoice(request, pipeline.context)).toMatchObject({ judged: sent, paidSec: 0 })
    expect(server.charges).toBe(1)
    expect(await pipeline.context.spending.spent()).toMatchObject({ committedSec: 3, reservedSec: 0 })
  })

  it.each([
    { kind: 'status', status: 400 },
    { kind: 'answer', body: [] },
  ] as const)('is sent again if the service says nothing more of it: %j', async (fault) => {
    const { request, sent } = await giveUp(-3)
    const { server, pipeline } = bench
    server.behaviour.states = [SUCCEEDED]
    server.fail('getFilesStatus', fault, fault.kind === 'status' ? 1 : 5)
    expect(await regenerateVoice(request, pipeline.context)).toMatchObject({ judged: sent, paidSec: 3 })
    expect(server.charges).toBe(2)
  })
})

describe('a file without credits', () => {
  it('uses up nothing of the limit of a day, because it was not charged', async () => {
    const { request, sent } = await voice()
    const { server, pipeline } = bench
    const context = { ...pipeline.context, maxSecondsPerDay: 5 }
    server.behaviour.states = [NO_CREDITS]
    for (let run = 0; run < 3; run++)
      await expect(regenerateVoice(request, context)).rejects.toMatchObject({ errorCode: -10 })
    expect(await context.spending.spent()).toMatchObject({ committedSec: 0, reservedSec: 0 })
    const failed = server.files
    server.behaviour.states = (file) => [failed.includes(file) ? NO_CREDITS : SUCCEEDED]
    expect(await regenerateVoice(request, context)).toMatchObject({ judged: sent, paidSec: 3 })
    expect(await context.spending.spent()).toMatchObject({ committedSec: 3, reservedSec: 0 })
    const [known] = await context.voices.allByFileId(server.files.at(-1)?.id ?? '')
    expect(known).toMatchObject({ paidSec: 3 })
  })

  it('is counted again if the service finishes it later', async () => {
    const { request, sent } = await voice()
    const { server, pipeline } = bench
    server.behaviour.states = [NO_CREDITS]
    await expect(regenerateVoice(request, pipeline.context)).rejects.toMatchObject({ errorCode: -10 })
    server.behaviour.states = [SUCCEEDED]
    expect((await regenerateVoice(request, pipeline.context)).judged).toBe(sent)
    expect(server.charges).toBe(1)
    expect(await pipeline.context.spending.spent()).toMatchObject({ committedSec: 3, reservedSec: 0 })
  })
})

describe('a ledger that was restored from a back-up', () => {
  const UPLOADED = [
    { status: 'registering' },
    { status: 'registered', fileId: 'an earlier file id' },
    { status: 'uploaded' },
  ] as const

  it.each([2, 3])('counts what the service has charged, if the voice was after step %i then', async (steps) => {
    const { request, sent } = await voice()
    const { server, pipeline, folder } = bench
    await regenerateVoice(request, pipeline.context)
    await rm(request.audioPath)
    const { key = '', fileId = '' } = (await pipeline.context.voices.allByFileId(server.files[0]?.id ?? ''))[0] ?? {}
    await pipeline.context.cache.forget(key)
    const { voices, spending, close } = await openLedger(folder.file('restored.sqlite'))
    onTestFinished(close)
    const claim = await voices.claim(key)
    if (claim.outcome !== 'claimed') throw new Error(claim.outcome)
    const done = [
      { status: 'registering' },
      { status: 'registered', fileId: fileId ?? '' },
      { status: 'uploaded' },
    ] as const
    for (const step of done.slice(0, steps)) await voices.advance(claim.lease, step)
    await voices.release(claim.lease)
    const restored = { ...pipeline.context, voices, spending }
    expect(await regenerateVoice(request, restored)).toMatchObject({ judged: sent, paidSec: 0 })
    expect(server.charges).toBe(1)
    expect(await spending.spent()).toMatchObject({ committedSec: 3, reservedSec: 0 })
  })

  it.each([1, 2, 3])('pays for nothing that the cache has, if the voice was after step %i then', async (steps) => {
    const { request, sent } = await voice()
    const { server, pipeline, folder } = bench
    await regenerateVoice(request, pipeline.context)
    await rm(request.audioPath)
    const key = (await pipeline.context.voices.allByFileId(server.files[0]?.id ?? ''))[0]?.key ?? ''
    const { voices, spending, close } = await openLedger(folder.file('restored.sqlite'))
    onTestFinished(close)
    const claim = await voices.claim(key)
    if (claim.outcome !== 'claimed') throw new Error(claim.outcome)
    for (const step of UPLOADED.slice(0, steps)) await voices.advance(claim.lease, step)
    await voices.release(claim.lease)
    const restored = { ...pipeline.context, voices, spending }
    expect(await regenerateVoice(request, restored)).toMatchObject({ judged: sent, paidSec: 0 })
    expect(server.calls).toMatchObject({ registerFile: 1, startProcess: 1 })
  })
})
