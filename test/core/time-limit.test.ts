import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { withTimeLimit } from '../../src/core/abort.js'
import { guardedRequest } from '../../src/core/address-guard.js'
import { withServer } from '../service/support/file-server.js'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Runs work while the garbage collector takes all that nobody holds. */
async function underCollection<T>(work: Promise<T>): Promise<T> {
  const collector = setInterval(collectGarbage, 20)
  return work.finally(() => clearInterval(collector))
}

/** A server that takes each request and never answers. */
const silent = () => withServer(() => {})

it.each(['fetch', 'a guarded request'])(
  'a time limit ends %s, whatever the garbage collector takes',
  async (kind) => {
    const url = new URL(await silent())
    const { signal: outer } = new AbortController()
    const asked = { method: 'GET', allowPrivate: true, idleTimeoutMs: 60_000 }
    const work = withTimeLimit<unknown>(400, outer, (signal) =>
      kind === 'fetch' ? fetch(url, { signal }) : guardedRequest(url, { ...asked, signal }),
    )
    await expect(underCollection(work)).rejects.toMatchObject({ name: expect.stringMatching(/^(Timeout|Abort)Error$/) })
  },
  10_000,
)

it('work under a time limit ends with the signal that it follows', async () => {
  const url = new URL(await silent())
  const outer = new AbortController()
  const work = withTimeLimit(60_000, outer.signal, (signal) => fetch(url, { signal }))
  outer.abort(new Error('The daemon stops.'))
  await expect(underCollection(work)).rejects.toThrow('The daemon stops.')
})
