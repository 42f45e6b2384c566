import { expect } from 'vitest'
import { InterruptedError } from '../../src/core/errors.js'
import { errorOf, QUICK, test } from './harness.js'

test.for([
  ['Pending', 0],
  ['Cancelled', 0],
  ['InProgress', 37],
] as const)(
  'a file that stays at one status (%s) ends with a message, and no other does',
  async ([status, progress], { server, connect }) => {
    const client = connect({ polling: { ...QUICK.polling, unchangedMs: 150 } })
    let percent = 0
    const stuck = { id: 'stuck', status, errorCode: 0, progress }
    const answer = () => [stuck, { id: 'moving', status: 'InProgress', errorCode: 0, progress: percent++ % 100 }]
    const stop = new AbortController()
    server.fail('getFilesStatus', { kind: 'answer', body: { toJSON: answer } }, Number.POSITIVE_INFINITY)
    const other = errorOf(client.waitFor('moving', { signal: stop.signal }))
    const error = await errorOf(client.waitFor('stuck'))
    stop.abort()
    expect(error).toMatchObject({
      ...{ code: 'ERR_STATUS_UNCHANGED', exitCode: 4 },
      message: expect.stringMatching(/file id stuck .*(Pending|InProgress) at \d+ %/),
      remedies: [expect.stringContaining('operator'), expect.stringContaining('nothing is paid twice')],
    })
    expect(await other).toBeInstanceOf(InterruptedError)
  },
)

test('a file that is NotFound now and then is not missing', async ({ server, connect, finished }) => {
  const client = connect({ polling: { minMs: 5, maxMs: 20, notFoundGraceMs: 100 } })
  const done = { status: 'Succeeded', errorCode: 0, progress: 100 } as const
  server.behaviour.states = [done, { status: 'InProgress', errorCode: 0, progress: 50 }, done]
  const { fileId } = await finished(10)
  const missing = { id: fileId, status: 'NotFound', errorCode: -11, progress: 0 }
  server.fail('getFilesStatus', { kind: 'answer', body: [missing] })
  server.fail('getFilesStatus', { kind: 'slow', delayMs: 150 })
  server.fail('getFilesStatus', { kind: 'answer', body: [missing] })
  expect(await client.waitFor(fileId)).toMatchObject({ status: 'Succeeded' })
})
