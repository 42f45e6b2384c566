import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { errorOf, QUICK, test } from './harness.js'

/** A longer silence than a loaded machine makes of itself. A transfer may drip for five of them. */
const timeouts = { connectMs: 5_000, answerMs: 5_000, idleMs: 500 }

describe('a transfer that moves next to nothing, and is never silent', () => {
  test('ends if it is a download', async ({ server, connect, finished, dir }) => {
    const client = connect({ timeouts, retry: { ...QUICK.retry, limit: 0 } })
    const { fileId } = await finished(600_000)
    server.fail('download', { kind: 'drip' }, Number.POSITIVE_INFINITY)
    const error = await errorOf(client.download(fileId, join(dir, 'out')))
    expect(error).toMatchObject({ code: 'ERR_SERVICE_UNREACHABLE', exitCode: 4 })
    expect(error.message).toMatch(/only \d+ bytes in 3 s\b/)
    expect(server.calls).toMatchObject({ download: 1, getOutputFileUrl: 1 })
  })

  test('is sent again if it is an upload', async ({ server, connect, file }) => {
    const client = connect({ timeouts })
    const { path, content } = await file(100_000)
    server.fail('upload', { kind: 'stall' })
    await client.upload(await client.registerFile({ clientFileId: 'a' }), path)
    expect(server.calls).toMatchObject({ upload: 2, registerFile: 1 })
    expect(content.equals((await server.files[0]?.input()) ?? Buffer.of())).toBe(true)
  })
})
