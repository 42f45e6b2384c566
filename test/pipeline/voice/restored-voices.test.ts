import { rm } from 'node:fs/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openLedger } from '../../../src/ledger/index.js'
import { regenerateVoice } from '../../../src/pipeline/voice/regenerate-voice.js'
import { jobBench } from '../../helpers/job-bench.js'
import { smallVoice } from './small-voice.js'

const bench = jobBench()

const IN_PROGRESS = { status: 'InProgress', errorCode: 0, progress: 50 } as const
const SUCCEEDED = { status: 'Succeeded', errorCode: 0, progress: 100 } as const
const NOT_FOUND = { status: 'NotFound', errorCode: -11, progress: 0 } as const

/** Pays for a voice, then restores the ledger of the time of an earlier step, and loses the cache. */
async function restored(step: 'registered' | 'uploaded') {
  const { request, sent } = await smallVoice(bench)
  const { server, pipeline, folder } = bench
  await regenerateVoice(request, pipeline.context)
  await rm(request.audioPath)
  const fileId = server.files[0]?.id ?? ''
  const key = (await pipeline.context.voices.allByFileId(fileId))[0]?.key ?? ''
  await pipeline.context.cache.forget(key)
  const { voices, spending, close } = await openLedger(folder.file('restored.sqlite'))
  onTestFinished(close)
  const claim = await voices.claim(key)
  if (claim.outcome !== 'claimed') throw new Error(claim.outcome)
  await voices.advance(claim.lease, { status: 'registering' })
  await voices.advance(claim.lease, { status: 'registered', fileId })
  if (step === 'uploaded') await voices.advance(claim.lease, { status: 'uploaded' })
  await voices.release(claim.lease)
  return { request, sent, context: { ...pipeline.context, voices, spending } }
}

describe('a ledger from a back-up that knows a voice only as', () => {
  it.each([
    ['registered', SUCCEEDED],
    ['registered', IN_PROGRESS],
    ['uploaded', SUCCEEDED],
    ['uploaded', IN_PROGRESS],
  ] as const)('%s asks the service about its file, which is %j, and pays nothing', async (step, status) => {
    const { request, sent, context } = await restored(step)
    const { server } = bench
    server.behaviour.states = () => {
      server.behaviour.states = [SUCCEEDED]
      return [status]
    }
    expect(await regenerateVoice(request, context)).toMatchObject({ judged: sent, paidSec: 0 })
    expect(server.calls).toMatchObject({ registerFile: 1, startProcess: 1 })
    expect(server.charges).toBe(1)
  })

  it('registered pays nothing if a single response says that the file in progress was not found', async () => {
    const { request, sent, context } = await restored('registered')
    const { server } = bench
    for (const status of [IN_PROGRESS, NOT_FOUND, IN_PROGRESS])
      server.fail('getFilesStatus', { kind: 'answer', body: [{ id: server.files[0]?.id, ...status }] })
    expect(await regenerateVoice(request, context)).toMatchObject({ judged: sent, paidSec: 0 })
    expect(server.calls).toMatchObject({ registerFile: 1, startProcess: 1 })
  })

  it('registered sends the voice again if the service has forgotten its file', async () => {
    const { request, sent, context } = await restored('registered')
    bench.server.fail('getFilesStatus', { kind: 'status', status: 400 })
    expect(await regenerateVoice(request, context)).toMatchObject({ judged: sent, paidSec: 3 })
    expect(bench.server.calls.registerFile).toBe(2)
  })
})

describe('a run that ended between registration and start', () => {
  const killedAt = async (operation: 'upload' | 'startProcess') => {
    const { request, sent } = await smallVoice(bench)
    const { server, pipeline } = bench
    server.fail(operation, { kind: 'status', status: 418 })
    await expect(regenerateVoice(request, pipeline.context)).rejects.toMatchObject({ exitCode: 1 })
    return { request, sent, server, context: pipeline.context }
  }

  it.each(['upload', 'startProcess'] as const)('at %s is not deceived by one InProgress', async (operation) => {
    const { request, sent, server, context } = await killedAt(operation)
    const body = [{ id: server.files[0]?.id, ...IN_PROGRESS }]
    server.fail('getFilesStatus', { kind: 'answer', body })
    const signal = AbortSignal.timeout(10_000)
    expect(await regenerateVoice(request, context, { signal })).toMatchObject({ judged: sent, paidSec: 3 })
    expect(server.charges).toBe(1)
  })

  it.each(['upload', 'startProcess'] as const)('at %s pays once, with the next run', async (operation) => {
    const { request, sent, server, context } = await killedAt(operation)
    expect(await regenerateVoice(request, context)).toMatchObject({ judged: sent, paidSec: 3 })
    expect(server.charges).toBe(1)
  })
})

describe('a voice that the cache has lost, and whose output the service deleted without forgetting the file', () => {
  const DAY_MS = 24 * 3600 * 1000

  /** Pays for a voice some days ago. @returns a context of today, without the cached voice */
  async function paidDaysAgo(days: number) {
    const { request, sent } = await smallVoice(bench)
    const { server, pipeline, folder } = bench
    const ledger = await openLedger(folder.file('state/ledger.sqlite'), { now: () => Date.now() - days * DAY_MS })
    onTestFinished(() => ledger.close())
    const { voices, spending } = ledger
    await regenerateVoice(request, { ...pipeline.context, voices, spending })
    await rm(request.audioPath)
    await pipeline.context.cache.forget((await voices.allByFileId(server.files[0]?.id ?? ''))[0]?.key ?? '')
    return { request, sent }
  }

  it.each(['getOutputFileUrl', 'download'] as const)('(404 of %s) is sent again after a week', async (operation) => {
    const { request, sent } = await paidDaysAgo(8)
    const { server, pipeline } = bench
    server.fail(operation, { kind: 'status', status: 404 }, Number.POSITIVE_INFINITY)
    await expect(regenerateVoice(request, pipeline.context)).rejects.toMatchObject({
      ...{ code: 'ERR_NOT_FOUND', errorCode: -11, exitCode: 1 },
      remedies: [expect.stringContaining('paid for again')],
    })
    server.heal()
    expect(await regenerateVoice(request, pipeline.context)).toMatchObject({ judged: sent, paidSec: 3 })
    expect(server.charges).toBe(2)
  })

  it('is not paid again before: the service may have an outage', async () => {
    const { request, sent } = await paidDaysAgo(6)
    const { server, pipeline } = bench
    server.fail('getOutputFileUrl', { kind: 'status', status: 404 }, Number.POSITIVE_INFINITY)
    await expect(regenerateVoice(request, pipeline.context)).rejects.toMatchObject({ code: 'ERR_OUTPUT_NOT_READY' })
    server.heal()
    expect(await regenerateVoice(request, pipeline.context)).toMatchObject({ judged: sent, paidSec: 0 })
    expect(server.charges).toBe(1)
  })
})
