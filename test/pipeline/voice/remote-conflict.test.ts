import { describe, expect, it } from 'vitest'
import { regenerateVoice } from '../../../src/pipeline/voice/regenerate-voice.js'
import { jobBench } from '../../helpers/job-bench.js'
import { addressOfVoice, smallVoice } from './small-voice.js'

const bench = jobBench()

const PENDING = { status: 'Pending', errorCode: 0, progress: 0 } as const
const SUCCEEDED = { status: 'Succeeded', errorCode: 0, progress: 100 } as const

/** A voice that the service fetches itself, and whose start is answered with a conflict. */
async function remoteVoice() {
  const { request, sent } = await smallVoice(bench)
  const address = await addressOfVoice(bench)
  return { request: { ...request, source: { kind: 'address', address, clientFileId: 'voice' } } as const, sent }
}

describe('a conflict at the start of a file that the service fetches itself', () => {
  it('leaves a file that waits in the queue after a doubled request, and pays for no other', async () => {
    const { request, sent } = await remoteVoice()
    const { server, pipeline } = bench
    server.behaviour.repeatedStart = 'conflict'
    server.behaviour.states = [PENDING]
    server.fail('startProcess', { kind: 'start-error', code: 409, done: true })
    for (let run = 0; run < 2; run++) {
      await expect(regenerateVoice(request, pipeline.context)).rejects.toMatchObject({
        code: 'ERR_STILL_RUNNING',
        exitCode: 3,
        message: expect.stringContaining('The service is still processing it, as file id'),
      })
    }
    server.behaviour.states = [SUCCEEDED]
    expect(await regenerateVoice(request, pipeline.context)).toMatchObject({ judged: sent })
    expect(server.calls.registerFileFromUrl).toBe(1)
    expect(server.charges).toBe(1)
    expect(await pipeline.context.spending.spent()).toMatchObject({ committedSec: 3, reservedSec: 0 })
  })

  it('starts a file later that the service had not fetched yet', async () => {
    const { request, sent } = await remoteVoice()
    const { server, pipeline } = bench
    server.fail('startProcess', { kind: 'start-error', code: 409 }, 10)
    await expect(regenerateVoice(request, pipeline.context)).rejects.toMatchObject({ exitCode: 3 })
    expect(server.charges).toBe(0)
    server.heal()
    expect(await regenerateVoice(request, pipeline.context)).toMatchObject({ judged: sent, paidSec: 3 })
    expect(server.calls.registerFileFromUrl).toBe(1)
    expect(server.charges).toBe(1)
  })
})
