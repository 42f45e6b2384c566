import { describe, expect, it } from 'vitest'
import { regenerateVoice } from '../../../src/pipeline/voice/regenerate-voice.js'
import { jobBench } from '../../helpers/job-bench.js'
import { smallVoice } from './small-voice.js'

const bench = jobBench()
const voice = () => smallVoice(bench)
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

describe('a file that was given up', () => {
  const SUCCEEDED = { status: 'Succeeded', errorCode: 0, progress: 100 } as const
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
