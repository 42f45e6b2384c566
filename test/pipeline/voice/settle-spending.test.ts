import { join } from 'node:path'
import { expect, it } from 'vitest'
import { resolveConfig } from '../../../src/config/index.js'
import { chargeId, openLedger, type VoiceStep } from '../../../src/ledger/index.js'
import { openPipeline } from '../../../src/pipeline/job/open-pipeline.js'
import { regenerateVoice } from '../../../src/pipeline/voice/regenerate-voice.js'
import { serviceMark } from '../../../src/pipeline/voice/voice-service.js'
import { jobBench } from '../../helpers/job-bench.js'
import { until } from '../../helpers/until.js'
import { smallVoice } from './small-voice.js'

const bench = jobBench()
const NO_LIMIT = { maxSecondsPerDay: null }

it('the next process settles what an interrupted one reserved, as far as the service tells', async () => {
  const { server, folder, pipeline } = bench
  const stateDir = folder.file('left')
  const ledger = await openLedger(join(stateDir, 'ledger.sqlite'))
  const config = await resolveConfig({ cwd: folder.path, env: { ...server.env, VOXMUX_STATE_DIR: stateDir } })
  const next = await openPipeline(config, { startEmbedded: async () => expect.unreachable('the service is remote') })
  const client = await pipeline.context.client()
  const input = await bench.take('speech.wav')
  const leave = async (key: string, fileId: string, ...steps: readonly VoiceStep[]) => {
    await ledger.spending.reserve(chargeId(key, fileId), 3, NO_LIMIT)
    const claim = await ledger.voices.claim(key)
    if (claim.outcome !== 'claimed') throw new Error(claim.outcome)
    for (const step of [{ status: 'registering' }, { status: 'registered', fileId }, ...steps] as const)
      await ledger.voices.advance(claim.lease, step)
    return claim.lease
  }
  const ours = (name: string) => name + serviceMark(next.context.serviceIdentity)
  const starting = [{ status: 'uploaded' }, { status: 'starting', paidSec: 3 }] as const
  const uploaded = async () => (await client.registerAndUpload({ clientFileId: 'a' }, input)).file_id

  const [started, earlier, waiting, held] = [await uploaded(), await uploaded(), await uploaded(), await uploaded()]
  const givenUp = await uploaded()
  await client.startOnce(started)
  await client.startOnce(earlier)
  await client.startOnce(givenUp)
  await ledger.voices.release(await leave(ours('lost'), 'file-that-is-lost', ...starting))
  // Its status is Pending: the start may still be on its way.
  await ledger.voices.release(await leave(ours('waiting'), waiting, ...starting))
  // Another service gave the same id to another file, which it may not have started.
  await ledger.voices.release(await leave('elsewhere', started, ...starting))
  await ledger.voices.release(await leave(ours('started'), started, ...starting))
  await ledger.voices.release(await leave(ours('begun'), 'file-begun', { status: 'uploaded' }))
  await ledger.voices.release(await leave(ours('known'), 'file-known'))
  await ledger.voices.release(await leave(ours('over'), givenUp, ...starting, { status: 'failed', errorCode: -12 }))
  // Another file of the voice was registered since.
  const later = [{ status: 'registering' }, { status: 'registered', fileId: 'file-later' }] as const
  await ledger.voices.release(await leave(ours('again'), earlier, ...starting, ...later))
  const lease = await leave(ours('held'), held, ...starting)
  server.behaviour.states = ({ id }) =>
    [started, earlier, givenUp].includes(id)
      ? [{ status: 'InProgress', errorCode: 0, progress: 1 }]
      : [{ status: 'Pending', errorCode: 0, progress: 0 }]

  // Asked about the first, the service refuses an id that is not its own.
  server.fail('getFilesStatus', { kind: 'status', status: 400 })
  await next.context.client()
  await until(async () => (await ledger.spending.reserved()).length === 4)
  await next.close()
  expect(server.requestsOf('getFilesStatus')[0]?.body).toEqual({ fileIds: ['file-that-is-lost'] })
  const left = [
    `elsewhere ${started}`,
    ...[`${ours('lost')} file-that-is-lost`, `${ours('waiting')} ${waiting}`, `${ours('held')} ${held}`],
  ].toSorted()
  expect((await ledger.spending.reserved()).map(({ id }) => id).toSorted()).toEqual(left)
  expect(await ledger.spending.spent()).toMatchObject({ committedSec: 9, reservedSec: 12 })
  const statuses = (await ledger.voices.allByFileId(started)).map(({ key, status }) => [key, status])
  expect(Object.fromEntries(statuses)).toEqual({ elsewhere: 'starting', [ours('started')]: 'started' })
  expect((await ledger.voices.allByFileId('file-begun'))[0]?.status).toBe('uploaded')
  expect((await ledger.voices.allByFileId(givenUp))[0]?.status).toBe('failed')
  await ledger.voices.release(lease)
  await ledger.close()
})

it('counts two files of one id towards the limit: of two services, or of one that lost its database', async () => {
  const { server, pipeline } = bench
  server.behaviour.newId = () => '17'
  const limited = { ...pipeline.context, maxSecondsPerDay: 7 }
  const regenerate = async () => regenerateVoice((await smallVoice(bench)).request, limited)
  await regenerate()
  await regenerate()
  expect(await pipeline.context.spending.spent()).toMatchObject({ committedSec: 6, reservedSec: 0 })
  await expect(regenerate()).rejects.toMatchObject({ code: 'ERR_SPENDING_LIMIT' })
})
