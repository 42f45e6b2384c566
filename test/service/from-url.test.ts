import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { apiClient } from './support/api-client.js'
import { fixtureVoice, plainEngine } from './support/engines.js'
import { type Route, withServer } from './support/file-server.js'
import { withService } from './support/with-service.js'

async function fetched(route: Route, path = '/voice.wav', options: object = {}) {
  const origin = await withServer(route)
  const service = await withService({ engine: plainEngine, allowPrivateUrls: true, ...options })
  const client = await apiClient(service)
  const fileId = await client.registerUrl('voice.wav', `${origin}${path}`)
  await client.start(fileId)
  return { client, service, fileId, entry: await client.ended(fileId) }
}

describe('a file from a URL', () => {
  it('is fetched through a few redirects, processed and given back', async () => {
    const voice = await fixtureVoice()
    const { client, fileId, entry } = await fetched((request, response) => {
      const hop = Number(/^\/(\d)$/.exec(request.url ?? '')?.[1] ?? 0)
      if (hop > 0) response.writeHead(302, { location: hop === 1 ? '/voice.wav' : `/${hop - 1}` }).end()
      else response.end(voice)
    }, '/5')
    expect(entry).toMatchObject({ status: 'Succeeded', progress: 100 })
    const { url } = await client.outputUrl(fileId)
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(voice)
  })

  it.each<[name: string, route: Route, settings?: object]>([
    ['is not there', (_, response) => void response.writeHead(404).end()],
    ['redirects for ever', (request, response) => void response.writeHead(302, { location: request.url ?? '/' }).end()],
    ['redirects to a file', (_, response) => void response.writeHead(302, { location: 'file:///etc/passwd' }).end()],
    [
      'breaks off',
      (_, response) => {
        response.writeHead(200, { 'content-length': 1000 })
        response.write('some', () => response.destroy())
      },
    ],
    [
      'says it is too large',
      (_, response) => void response.writeHead(200, { 'content-length': 2000 }).end('x'.repeat(2000)),
      { links: { maxUploadBytes: 1000 } },
    ],
    [
      'turns out too large',
      (_, response) => {
        response.write('x'.repeat(900))
        response.end('x'.repeat(900))
      },
      { links: { maxUploadBytes: 1000 } },
    ],
    [
      'goes silent',
      (_, response) => void response.write('x'),
      { links: { idleTimeoutMs: 50 }, download: { connectTimeoutMs: 50 } },
    ],
    [
      'takes for ever',
      (_, response) => {
        const drip = setInterval(() => response.write('x'), 10)
        response.on('close', () => clearInterval(drip))
      },
      { download: { totalTimeoutMs: 300 } },
    ],
    [
      'switches to another protocol',
      ({ socket }) =>
        void socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n'),
    ],
    ['comes compressed', (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('x')],
  ])('ends with -17 where it %s', async (_name, route, settings = {}) => {
    const { entry, service } = await fetched(route, '/a', { settings })
    expect(entry).toMatchObject({ status: 'Failed', errorCode: -17 })
    const left = await readdir(join(service.dataDir, 'files'), { recursive: true }).catch(() => [])
    expect(left.filter((name) => /input|part/.test(name))).toEqual([])
  })

  it('ends with -17 if nobody listens', async () => {
    const service = await withService({ allowPrivateUrls: true })
    const client = await apiClient(service)
    for (const url of ['http://127.0.0.1:1/', 'http://name.invalid/']) {
      const fileId = await client.registerUrl('a', url)
      await client.start(fileId)
      expect([url, (await client.ended(fileId)).errorCode]).toEqual([url, -17])
    }
  })

  it('is never fetched from this machine or its network, by number, name or redirect', async () => {
    let calls = 0
    const origin = await withServer((_, response) => {
      calls += 1
      response.end('secret')
    })
    const client = await apiClient(await withService())
    const port = new URL(origin).port
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '0x7f000001', '169.254.169.254']) {
      const fileId = await client.registerUrl('a', `http://${host}:${port}/`)
      await client.start(fileId)
      expect([host, (await client.ended(fileId)).errorCode]).toEqual([host, -17])
    }
    expect(calls).toBe(0)
  })
})
