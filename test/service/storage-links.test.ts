import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, stat, symlink } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { BlockBlobClient } from '@azure/storage-blob'
import { describe, expect, it } from 'vitest'
import { mediaTypeOf } from '../../src/service/storage/file-storage.js'
import { apiClient } from './support/api-client.js'
import { fixtureVoice, plainEngine } from './support/engines.js'
import { withService } from './support/with-service.js'

/** A finished file's download link. */
async function finished(bytes?: Buffer, name = 'voice.wav') {
  const client = await apiClient(await withService({ engine: plainEngine }))
  const voice = bytes ?? (await fixtureVoice())
  const { file_id, file_upload_link } = await client.register(name)
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

const inputOf = (dataDir: string, fileId: string) => join(dataDir, 'files', fileId.slice(0, 2), fileId, 'input')

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

  it('is not said to be unused if the disk cannot tell', async () => {
    const service = await withService({ engine: plainEngine })
    const { register, post } = await apiClient(service)
    const { file_id } = await register('a.wav')
    const input = inputOf(service.dataDir, file_id)
    await mkdir(dirname(input), { recursive: true })
    // The file system answers a link to itself with another error than that it does not exist.
    await symlink(input, input)
    const answer = await post('startProcess', { file_id, options: { model: 'regen_v1' } })
    expect(answer.status).toBe(500)
  })

  it('takes what Azure’s own client sends: in one piece and in blocks', async () => {
    const client = await apiClient(await withService({ engine: plainEngine }))
    const voice = await fixtureVoice()
    for (const options of [{}, { maxSingleShotSize: 1000, blockSize: 100_000, concurrency: 3 }]) {
      const { file_id, file_upload_link } = await client.register('a.wav')
      const answer = await new BlockBlobClient(file_upload_link).uploadData(voice, options)
      expect(answer._response.status).toBe(201)
      if (!('blockSize' in options)) expect(answer.contentMD5).toEqual(createHash('md5').update(voice).digest())
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

  it('refuses an upload before its bytes are sent, if the client asks first', async () => {
    const service = await withService({ serveOnly: true, settings: { links: { maxUploadBytes: 1000 } } })
    const client = await apiClient(service)
    const { file_id, file_upload_link: link } = await client.register('a.wav')
    const asked = (path: string, sizeBytes: number, headers: Record<string, string> = BLOB) =>
      new Promise<number | 'continue'>((resolve, reject) => {
        const sent = { ...headers, 'content-length': sizeBytes, expect: '100-continue' }
        const put = request(path, { method: 'PUT', headers: sent })
        const settle = (answer: number | 'continue') => {
          put.destroy()
          resolve(answer)
        }
        put.once('continue', () => settle('continue'))
        put.once('response', ({ statusCode = 0 }) => settle(statusCode))
        put.on('error', reject).flushHeaders()
      })
    expect(await asked(link, 1000)).toBe('continue')
    expect(await asked(link, 1001)).toBe(413)
    expect(await asked(link, 1000, {})).toBe(400)
    expect(await asked(`${link}x`, 1000)).toBe(403)
    expect(await asked(`${link}&comp=block&blockid=YQ==`, 1000)).toBe('continue')
    expect(await asked(`${link}&comp=block&blockid=YQ==`, 1001)).toBe(413)
    expect(await asked(`${link}&comp=blocklist`, 1000)).toBe('continue')
    expect((await client.upload(link, 'whole')).status).toBe(201)
    expect(await client.start(file_id)).toMatchObject({ error: null })
    expect(await asked(link, 1000)).toBe(409)
  })

  it('consents to no upload of HTTP/1.0, whose client would take the consent for the response', async () => {
    const client = await apiClient(await withService({ serveOnly: true }))
    const { pathname, search, hostname, port } = new URL((await client.register('a.wav')).file_upload_link)
    const head = ['x-ms-blob-type: BlockBlob', 'Expect: 100-continue', 'Content-Length: 1']
    const socket = connect(Number(port), hostname)
    socket.write([`PUT ${pathname}${search} HTTP/1.0`, ...head, '', 'a'].join('\r\n'))
    expect(await text(socket)).toMatch(/^HTTP\/1.1 201 /)
  })

  it('is no upload when it breaks off, and may be tried again', async () => {
    const client = await apiClient(await withService())
    const { file_id, file_upload_link: link } = await client.register('a.wav')
    await expect(rawPut(link, { ...BLOB, 'content-length': 100 }, Buffer.alloc(100), 50)).rejects.toThrow('cut')
    expect(await client.start(file_id)).toMatchObject({ error: { code: 409 } })
    expect((await client.upload(link, 'whole')).status).toBe(201)
    expect(await client.start(file_id)).toMatchObject({ error: null })
  })

  it('lets nothing be replaced by an upload that began before the start and ended after it', async () => {
    const client = await apiClient(await withService({ serveOnly: true }))
    const { file_id, file_upload_link: link } = await client.register('a.wav')
    expect((await client.upload(link, 'first')).status).toBe(201)
    const headers = { ...BLOB, 'content-length': 6, expect: '100-continue' }
    const slow = request(link, { method: 'PUT', headers })
    const answer = once(slow, 'response') as Promise<[IncomingMessage]>
    slow.flushHeaders()
    // Asked for its bytes, it was let in: the first question was answered with yes.
    await once(slow, 'continue')
    await new Promise((resolve) => slow.write('sec', resolve))
    await client.upload(link, 'third')
    expect(await client.start(file_id)).toMatchObject({ error: null })
    slow.end('ond')
    expect((await answer)[0].statusCode).toBe(409)
  })

  it('holds blocks to the size and the number of an upload, staged, listed twice and in all', async () => {
    const service = await withService({ serveOnly: true, settings: { links: { maxUploadBytes: 1000 } } })
    const client = await apiClient(service)
    const { file_id, file_upload_link: link } = await client.register('a.wav')
    const put = async (query: string, body: string | Uint8Array<ArrayBuffer>) =>
      (await fetch(`${link}&${query}`, { method: 'PUT', body })).status
    const stage = (id: string, size: number) => put(`comp=block&blockid=${btoa(id)}`, new Uint8Array(size))
    const commit = (ids: string[]) =>
      put(
        'comp=blocklist',
        `<?xml version="1.0"?><BlockList>${ids.map((id) => `<Latest>${btoa(id)}</Latest>`).join('')}</BlockList>`,
      )
    expect([await stage('a', 600), await stage('b', 401), await stage('b', 400)]).toEqual([201, 413, 201])
    // The same block anew takes the place of the first.
    expect([await stage('a', 601), await stage('a', 599), await stage('c', 1)]).toEqual([413, 201, 201])
    expect(await commit(['a', 'a'])).toBe(413)
    expect(await commit(['a', 'nobody'])).toBe(400)
    expect(await client.start(file_id)).toMatchObject({ error: { code: 409 } })
    expect(await commit(Array(50_001).fill('c'))).toBe(400)
    expect(await commit(Array(390_000).fill('c'))).toBe(400)
    expect(await commit(['a', 'b', 'c'])).toBe(201)
    expect((await stat(inputOf(service.dataDir, file_id))).size).toBe(1000)
    // What was staged is gone with its list.
    expect(await commit(['a'])).toBe(400)
    expect(await client.start(file_id)).toMatchObject({ error: null })
  })

  it('stops joining blocks for a client that hangs up', async () => {
    const service = await withService({ serveOnly: true })
    const client = await apiClient(service)
    const { file_id, file_upload_link: link } = await client.register('a.wav')
    const block = new Uint8Array(4 << 20)
    expect((await fetch(`${link}&comp=block&blockid=YQ`, { method: 'PUT', body: block })).status).toBe(201)
    // 16 GB, were they joined to their end.
    const list = `<BlockList>${'<Latest>YQ</Latest>'.repeat(4000)}</BlockList>`
    const put = request(`${link}&comp=blocklist`, { method: 'PUT', headers: { 'content-length': list.length } })
    put.on('error', () => {}).end(list)
    const folder = dirname(inputOf(service.dataDir, file_id))
    const parts = async () => (await readdir(folder)).filter((name) => name.startsWith('.part-'))
    await expect.poll(parts, { timeout: 30_000 }).toHaveLength(1)
    put.destroy()
    await expect.poll(parts, { timeout: 30_000 }).toEqual([])
    expect(await client.start(file_id)).toMatchObject({ error: { code: 409 } })
  })

  it('is refused when it was changed, and when its time is over', async () => {
    const late = await apiClient(await withService({ settings: { links: { uploadLifetimeSec: 0.001 } } }))
    const { file_upload_link: lateLink } = await late.register('a.wav')
    expect((await late.upload(lateLink, 'late')).status).toBe(403)
    expect((await late.upload(lateLink.replace(/se=\d+/, 'se=4102444800'), 'forged')).status).toBe(403)

    const client = await apiClient(await withService())
    const { file_upload_link: link, file_id } = await client.register('a.wav')
    const other = await client.register('b.wav')
    expect((await client.upload(link.replace(file_id, other.file_id), 'of another file')).status).toBe(403)
    expect(await client.start(other.file_id)).toMatchObject({ error: { code: 409 } })
    expect((await client.upload(link.replace('uploads', '../etc'), 'elsewhere')).status).toBe(404)
    // As many characters as a signature has, and more bytes.
    expect((await client.upload(link.replace(/sig=[^&]+/, `sig=${'é'.repeat(43)}`), 'forged')).status).toBe(403)
    expect((await client.upload(link, 'unchanged')).status).toBe(201)
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

  it('names the file for clients that read `filename*` and for those that do not', async () => {
    const { url } = await finished(undefined, 'takes/d\u00e9j\u00e0 "vu" 50%.wav')
    const name = (await fetch(url, { method: 'HEAD' })).headers.get('content-disposition')
    expect(name).toBe(
      `attachment; filename="d_j_ _vu_ 50_.wav"; filename*=UTF-8''d%C3%A9j%C3%A0%20%22vu%22%2050%25.wav`,
    )
  })

  it.each([
    ['avi', 'video/x-msvideo'],
    ['caf', 'audio/x-caf'],
    ['flv', 'video/x-flv'],
    ['ts', 'video/mp2t'],
    ['mpg', 'video/mpeg'],
    ['wma', 'audio/x-ms-wma'],
    ['wmv', 'video/x-ms-wmv'],
    ['ac3', 'audio/ac3'],
    ['mka', 'audio/x-matroska'],
    ['unheard-of', 'application/octet-stream'],
  ])('says what a .%s is: %s', (extension, type) => {
    expect(mediaTypeOf(extension)).toBe(type)
  })

  it('cannot be written to nor changed', async () => {
    const { url } = await finished()
    expect((await fetch(url, { method: 'PUT', body: 'x', headers: BLOB })).status).toBe(405)
    expect((await fetch(url.replace('name=voice', 'name=other'))).status).toBe(403)
  })
})
