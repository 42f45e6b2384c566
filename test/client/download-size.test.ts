import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { PassThrough, pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { describe, expect, onTestFinished } from 'vitest'
import { errorOf, test } from './harness.js'

const CHUNK = Buffer.alloc(64 * 1024)
const MAX_BYTES = 1_000_000

/** Zeros for as long as the other side reads. */
function* endless(): Generator<Buffer> {
  for (;;) yield CHUNK
}

/** A storage that sends what it is told to each request. @returns its address, and how many requests it had */
async function storage(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen = { requests: 0 }
  const server = createServer((request, response) => {
    seen.requests++
    answer(request, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/file` }
}

describe('a download with a limit', () => {
  test.for([
    ['a body without an end', {}, new PassThrough()],
    ['an encoded body that grows without an end', { 'content-encoding': 'gzip' }, createGzip()],
    ['a length above it', { 'content-length': String(MAX_BYTES + 1) }, new PassThrough()],
  ] as const)('ends at once with %s, and leaves nothing', async ([, headers, encoding], { server, client, dir }) => {
    const { url, seen } = await storage((_, response) => {
      response.writeHead(200, headers)
      pipeline(Readable.from(endless()), encoding, response, () => {})
    })
    server.fail('getOutputFileUrl', { kind: 'answer', body: { url, expiry: 4_000_000_000 } }, 9)
    const error = await errorOf(client.download('file-1', join(dir, 'out'), { maxBytes: MAX_BYTES }))
    expect(error).toMatchObject({
      ...{ code: 'ERR_DOWNLOAD_TOO_LARGE', exitCode: 4 },
      message: expect.stringContaining(new URL(url).host),
      remedies: [expect.stringContaining('costs nothing'), expect.stringContaining('file-1')],
    })
    expect(await readdir(dir)).toEqual([])
    expect(seen.requests).toBe(1)
  })

  test('ends with a part of a file that is larger', async ({ server, client, dir }) => {
    const { url } = await storage((request, response) => {
      const total = MAX_BYTES * 2
      if (request.headers.range) {
        response.writeHead(206, { 'content-range': `bytes ${CHUNK.length}-${total - 1}/${total}` })
      }
      response.write(CHUNK, () => void setTimeout(() => response.destroy(), 20))
    })
    server.fail('getOutputFileUrl', { kind: 'answer', body: { url, expiry: 4_000_000_000 } }, 9)
    const error = await errorOf(client.download('file-1', join(dir, 'out'), { maxBytes: MAX_BYTES }))
    expect(error).toMatchObject({ code: 'ERR_DOWNLOAD_TOO_LARGE' })
  })

  test('takes a file of exactly that length', async ({ client, finished, dir }) => {
    const { fileId, content } = await finished(1000)
    await client.download(fileId, join(dir, 'out'), { maxBytes: 1000 })
    expect(content.equals(await readFile(join(dir, 'out')))).toBe(true)
  })
})
