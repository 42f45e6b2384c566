import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { FileStatus } from '../../src/client/index.js'
import { InterruptedError } from '../../src/core/errors.js'
import { silentLogger } from '../../src/core/logger.js'
import { errorOf, QUICK, test } from './harness.js'

describe('an odd answer of getFilesStatus', () => {
  test('an odd entry hurts no other file, and says what it can of its own', async ({ server, connect, file }) => {
    const client = connect({ polling: { ...QUICK.polling, outageMs: 150 } })
    const { path } = await file(5)
    const odd: Record<string, object> = {
      'added field': { status: 'Succeeded', errorCode: 0, progress: 100, eta: null },
      'null progress': { status: 'Succeeded', errorCode: 0, progress: null },
      'text progress': { status: 'Succeeded', errorCode: '0', progress: '100 %' },
      'too much progress': { status: 'Succeeded', errorCode: null, progress: 250 },
      'unknown code': { status: 'Failed', errorCode: -19, progress: 10 },
      'unknown state': { status: 'Finishing', errorCode: 0, progress: 99 },
      'no status at all': {},
    }
    const ids = new Map<string, string>()
    for (const name of Object.keys(odd)) {
      const { file_id } = await client.registerAndUpload({ clientFileId: name }, path)
      await client.startOnce(file_id)
      ids.set(name, file_id)
    }
    const entries = [...ids].map(([name, id]) => ({ id, ...odd[name] }))
    const answer = [null, 'text', { status: 'Succeeded' }, ...entries.slice(0, -1)]
    server.fail('getFilesStatus', { kind: 'answer', body: answer }, Number.POSITIVE_INFINITY)
    const seen: FileStatus[] = []
    const onStatus = (status: FileStatus) => void seen.push(status)
    const stop = new AbortController()
    const waits = [...ids].map(async ([name, id]) => {
      const signal = name === 'unknown state' ? stop.signal : undefined
      return [name, await client.waitFor(id, { onStatus, signal }).catch((error: Error & { code: string }) => error)]
    })
    await waits.at(-1)
    stop.abort()
    const ends = Object.fromEntries(await Promise.all(waits))
    for (const name of Object.keys(odd).slice(0, 4)) {
      expect(ends[name]).toEqual({ id: ids.get(name), status: 'Succeeded', errorCode: 0, progress: 100 })
    }
    expect(ends['unknown code']).toMatchObject({ code: 'ERR_FILE_FAILED', errorCode: -19, exitCode: 1 })
    expect(ends['unknown code'].message).toContain('-19')
    expect(ends['unknown state']).toBeInstanceOf(InterruptedError)
    expect(seen).toContainEqual({ id: ids.get('unknown state'), status: 'InProgress', errorCode: 0, progress: 99 })
    expect(ends['no status at all']).toMatchObject({ code: 'ERR_BAD_ANSWER', exitCode: 4 })
  })

  test.for(['SUCCEEDED', 'succeeded'])('spelled %s is the end', async (status, { server, client, finished }) => {
    const { fileId } = await finished(5)
    const body = [{ id: fileId.toUpperCase(), status, errorCode: 0, progress: 100 }]
    server.fail('getFilesStatus', { kind: 'answer', body }, Number.POSITIVE_INFINITY)
    const signal = AbortSignal.timeout(2000)
    expect(await client.waitFor(fileId, { signal })).toMatchObject({ id: fileId, status: 'Succeeded' })
  })

  test('a 404 for the question is no word about the file', async ({ server, client, finished }) => {
    const { fileId } = await finished(5)
    server.fail('getFilesStatus', { kind: 'status', status: 404 }, 2)
    expect(await client.waitFor(fileId)).toMatchObject({ status: 'Succeeded' })
    server.fail('getFilesStatus', { kind: 'status', status: 404 }, Number.POSITIVE_INFINITY)
    const error = await errorOf(client.getFilesStatus([fileId]))
    expect(error).toMatchObject({ code: 'ERR_BAD_ANSWER', exitCode: 4, errorCode: undefined })
  })

  test('warns once of an outage, with its reason and how long it is borne', async ({ server, connect, finished }) => {
    const warnings: string[] = []
    const logger = { ...silentLogger, warn: (_fields: object, message: string) => void warnings.push(message) }
    const { fileId } = await finished(5)
    // Clients with the same options share a poller, and so the logger of the first.
    const client = connect({ logger, polling: { ...QUICK.polling, maxMs: 11 } })
    server.fail('getFilesStatus', { kind: 'status', status: 503 }, 3 * (QUICK.retry.limit + 1))
    await client.waitFor(fileId)
    expect(warnings).toEqual([
      expect.stringMatching(/is busy \(503\) at the status of files.* voxmux asks again for up to 1 min/),
    ])
  })
})

describe('a link whose expiry cannot be read', () => {
  test.for([undefined, 'tomorrow', 1.5])(
    '(%s) downloads what is paid for',
    async (expiry, { server, client, finished, dir }) => {
      const { fileId, content } = await finished(1000)
      const { url } = await client.getOutputFileUrl(fileId)
      server.fail('getOutputFileUrl', { kind: 'answer', body: { url, expiry } })
      await client.download(fileId, join(dir, 'out'))
      expect(content.equals(await readFile(join(dir, 'out')))).toBe(true)
      expect(server.calls.getOutputFileUrl).toBe(2)
    },
  )
})
