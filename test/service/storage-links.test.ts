import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { BlockBlobClient } from '@azure/storage-blob'
import { describe, expect, it } from 'vitest'
import { apiClient } from './support/api-client.js'
import { fixtureVoice, plainEngine } from './support/engines.js'
import { withService } from './support/with-service.js'

/** A finished file's download link. */
async function finished(bytes?: Buffer) {
  const client = await apiClient(await withService({ engine: plainEngine }))
  const voice = bytes ?? (await fixtureVoice())
  const { file_id, file_upload_link } = await client.register('voice.wav')
  await client.upload(file_upload_link, voice)
  await client.start(file_id)
  await client.ended(file_id)
  return { url: (await client.outputUrl(file_id)).url, voice }
}

/** A PUT that fetch would not send. */
function rawPut(link: string, headers: Record<string, string | number>, body: Buffer, cutAfter?: number) {
  return new Promise<number>((resolve, reject) => {
    const put = request(link, { method: 'PUT', headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    put.on('error', reject)
    if (cutAfter === undefined) put.end(body)
    else put.write(body.subarray(0, cutAfter), () => setImmediate(() => put.destroy(new Error('cut'))))
  })
}

const BLOB = { 'x-ms-blob-type': 'BlockBlob' }

describe('an upload link', () => {
  it('lies at another address than the API and needs no token', async () => {
    const service = await withService()
    const client = await apiClient(service)
    const { file_upload_link, file_upload_expiry } = await client.register('a.wav')
    expect(new URL(file_upload_link).origin).not.toBe(new URL(service.baseUrl).origin)
    expect(file_upload_expiry).toBeGreaterThan(Date.now() / 1000 + 3500)
    expect((await client.upload(file_upload_link, 'a')).status).toBe(201)
  })

  it('takes what Azure’s own client sends: in one piece and in blocks', async () => {
    const client = await apiClient(await withService({ engine: plainEngine }))
    const voice = await fixtureVoice()
    for (const options of [{}, { maxSingleShotSize: 1000, blockSize: 100_000, concurrency: 3 }]) {
      const { file_id, file_upload_link } = await client.register('a.wav')
      const answer = await new BlockBlobClient(file_upload_link).uploadData(voice, options)
      expect(answer._response.status).toBe(201)
      await client.start(file_id)
      expect((await client.ended(file_id)).status).toBe('Succeeded')
      const { url } = await client.outputUrl(file_id)
      expect(await new BlockBlobClient(url).downloadToBuffer()).toEqual(voice)
    }
  })

  it('lets whoever sends all first and reads then send it all, and says why it refuses', async () => {
    const service = await withService()
    const { file_upload_link } = await (await apiClient(service)).register('a.wav')
    const { hostname, port, pathname, search } = new URL(file_upload_link)
    const socket = connect(Number(port), hostname)
    const answer = text(socket)
    const refused = once(socket, 'data')
    const send = (part: string) =>
      new Promise<void>((resolve, reject) => socket.write(part, (error) => (error ? reject(error) : resolve())))
    await send(`PUT ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nTransfer-Encoding: chunked\r\n\r\n`)
    await refused
    for (let chunks = 0; chunks < 20; chunks += 1) await send(`10000\r\n${'x'.repeat(0x10000)}\r\n`)
    await send('0\r\n\r\n')
    expect(await answer).toMatch(/^HTTP\/1.1 411 .*MissingContentLengthHeader/s)
  })

  it('refuses a missing block type, a chunked body, another method, a wrong MD5 and too much', async () => {
    const service = await withService({ settings: { links: { maxUploadBytes: 1000 } } })
    const client = await apiClient(service)
    const { file_id, file_upload_link: link } = await client.register('a.wav')
    expect((await client.upload(link, 'a', { 'x-ms-blob-type': '' })).status).toBe(400)
    expect(await rawPut(link, { ...BLOB, 'transfer-encoding': 'chunked' }, Buffer.from('a'))).toBe(411)
    expect((await fetch(link)).status).toBe(405)
    expect((await client.upload(link, 'a', { 'content-md5': 'AAAA' })).status).toBe(400)
    expect((await client.upload(link, new Uint8Array(1001))).status).toBe(413)
    expect(await client.start(file_id)).toMatchObject({ error: { code: 409 } })
  })

  it('is no upload when it breaks off, and may be tried again', async () => {
    const client = await apiClient(await withService())
    const { file_id, file_upload_link: link } = await client.register('a.wav')
    await expect(rawPut(link, { ...BLOB, 'content-length': 100 }, Buffer.alloc(100), 50)).rejects.toThrow('cut')
    expect(await client.start(file_id)).toMatchObject({ error: { code: 409 } })
    expect((await client.upload(link, 'whole')).status).toBe(201)
    expect(await client.start(file_id)).toMatchObject({ error: null })
  })

  it('is refused when it was changed, and when its time is over', async () => {
    const service = await withService({ settings: { links: { uploadLifetimeSec: 0.001 } } })
    const client = await apiClient(service)
    const { file_upload_link: link, file_id } = await client.register('a.wav')
    expect((await client.upload(link, 'late')).status).toBe(403)
    expect((await client.upload(link.replace(/se=\d+/, 'se=4102444800'), 'forged')).status).toBe(403)
    expect((await client.upload(link.replace(file_id, crypto.randomUUID()), 'other')).status).toBe(403)
    expect((await client.upload(link.replace('uploads', '../etc'), 'elsewhere')).status).toBe(404)
  })
})

describe('a download link', () => {
  it('serves ranges and HEAD', async () => {
    const { url, voice } = await finished()
    const part = async (range: string, headers = {}) => {
      const answer = await fetch(url, { headers: { range, ...headers } })
      return [answer.status, answer.headers.get('content-range'), Buffer.from(await answer.arrayBuffer())]
    }
    const size = voice.length
    expect(await part('bytes=10-19')).toEqual([206, `bytes 10-19/${size}`, voice.subarray(10, 20)])
    expect(await part('bytes=-5')).toEqual([206, `bytes ${size - 5}-${size - 1}/${size}`, voice.subarray(-5)])
    expect(await part(`bytes=${size - 3}-`)).toEqual([206, `bytes ${size - 3}-${size - 1}/${size}`, voice.subarray(-3)])
    expect((await part(`bytes=${size}-`)).slice(0, 2)).toEqual([416, `bytes */${size}`])
    expect((await part('bytes=0-1', { 'if-range': '"other"' })).slice(0, 2)).toEqual([200, null])
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), head.headers.get('accept-ranges')]).toEqual([
      200,
      String(size),
      'bytes',
    ])
  })

  it('cannot be written to nor changed', async () => {
    const { url } = await finished()
    expect((await fetch(url, { method: 'PUT', body: 'x', headers: BLOB })).status).toBe(405)
    expect((await fetch(url.replace('name=voice', 'name=other'))).status).toBe(403)
  })
})
