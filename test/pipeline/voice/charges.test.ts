import { rm } from 'node:fs/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { regenerateVoice } from '../../../src/pipeline/voice/regenerate-voice.js'
import { jobBench } from '../../helpers/job-bench.js'
import { smallVoice } from './small-voice.js'

const bench = jobBench()
const voice = () => smallVoice(bench)
const PENDING = { status: 'Pending', errorCode: 0, progress: 0 } as const

it('a voice is another one for another output type, service or model, and each is paid once', async () => {
  const { server, pipeline } = bench
  const { request, sent } = await voice()
  const { context } = pipeline
  const others = [
    [request, context],
    [{ ...request, outputType: 'flac' }, context],
    [request, { ...context, serviceIdentity: 'https://other.example.com' }],
  ] as const
  for (const isCached of [false, true]) {
    for (const [asked, within] of others) {
      expect(await regenerateVoice(asked, within)).toMatchObject({ judged: sent, cached: isCached })
      await rm(request.audioPath)
    }
  }
  expect(server.charges).toBe(others.length)
  // The service of the tests has no other model.
  const unknown = regenerateVoice({ ...request, model: 'regen_v2' }, context)
  await expect(unknown).rejects.toMatchObject({ code: 'ERR_REQUEST_REFUSED' })
})

it('a start is not sent again by a run that has lost the voice to another since', async () => {
  const { server, pipeline } = bench
  const { request } = await voice()
  const { voices } = pipeline.context
  const claims = vi.spyOn(voices, 'claim')
  onTestFinished(() => claims.mockRestore())
  let taken: ReturnType<typeof voices.claim> | undefined
  const takeOver = async () => {
    const claim = await claims.mock.results[0]?.value
    await voices.release(claim.lease)
    return voices.claim(claim.voice.key)
  }
  server.behaviour.states = () => {
    taken ??= takeOver()
    return [PENDING]
  }
  server.fail('startProcess', { kind: 'status', status: 503 })
  await expect(regenerateVoice(request, pipeline.context)).rejects.toMatchObject({ code: 'ERR_LEASE_LOST' })
  expect(await taken).toMatchObject({ outcome: 'claimed', voice: { status: 'starting' } })
  expect([server.calls.startProcess, server.charges]).toEqual([1, 0])
})

it('a start that was refused is not repeated for an input that has changed since', async () => {
  const { server, pipeline } = bench
  const { request } = await voice()
  server.fail('startProcess', { kind: 'status', status: 400 })
  await expect(regenerateVoice(request, pipeline.context)).rejects.toMatchObject({ code: 'ERR_REQUEST_REFUSED' })
  const changed = { ...request, requireInput: () => Promise.reject(new Error('it changed')) }
  await expect(regenerateVoice(changed, pipeline.context)).rejects.toThrow('it changed')
  expect([server.calls.startProcess, server.charges]).toEqual([1, 0])
})

it('a file that fails with SystemError is sent once more, and both count towards the limit', async () => {
  const { server, pipeline } = bench
  server.behaviour.states = [{ status: 'Failed', errorCode: -1, progress: 0 }]
  const regenerated = regenerateVoice((await voice()).request, pipeline.context)
  await expect(regenerated).rejects.toMatchObject({ errorCode: -1 })
  expect([server.calls.registerFile, server.charges]).toEqual([2, 2])
  expect(await pipeline.context.spending.spent()).toMatchObject({ committedSec: 6, reservedSec: 0 })
})

it('a start counts as paid before it counts as started', async () => {
  const { server, pipeline } = bench
  const { request, sent } = await voice()
  const { spending } = pipeline.context
  const commits = vi.spyOn(spending, 'commit').mockRejectedValueOnce(new Error('the ledger is locked'))
  onTestFinished(() => commits.mockRestore())
  await expect(regenerateVoice(request, pipeline.context)).rejects.toThrow('locked')
  expect(await regenerateVoice(request, pipeline.context)).toMatchObject({ judged: sent })
  expect(server.charges).toBe(1)
  expect(await spending.spent()).toMatchObject({ committedSec: 3, reservedSec: 0 })
})

it('a voice whose upload link has expired is registered again, and paid once', async () => {
  const { server, pipeline } = bench
  const { request, sent } = await voice()
  server.fail('registerFile', { kind: 'expired-link' })
  expect(await regenerateVoice(request, pipeline.context)).toMatchObject({ judged: sent, paidSec: 3 })
  expect([server.calls.registerFile, server.charges]).toEqual([2, 1])
  const [known] = await pipeline.context.voices.allByFileId(server.files[0]?.id ?? '')
  expect(known?.attempts.map(({ fileId }) => fileId)).toEqual(server.files.map(({ id }) => id))
})
