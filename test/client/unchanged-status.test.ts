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
