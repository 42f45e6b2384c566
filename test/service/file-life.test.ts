import { describe, expect, it } from 'vitest'
import { apiClient } from './support/api-client.js'
import { fixtureVoice, plainEngine } from './support/engines.js'
import { withService } from './support/with-service.js'

describe('a file', () => {
  it('is registered, uploaded, started, processed and downloaded', async () => {
    const service = await withService({ engine: plainEngine })
    const client = await apiClient(service)
    const voice = await fixtureVoice()
    const file = await client.register('takes/scene 1.final.wav')
    expect(file).toMatchObject({
      client_file_id: 'takes/scene 1.final.wav',
      file_name: 'scene 1.final',
      success: true,
    })
    expect(await client.status(file.file_id)).toEqual([
      { id: file.file_id, status: 'Pending', errorCode: 0, progress: 0 },
    ])
    expect((await client.upload(file.file_upload_link, voice)).status).toBe(201)
    expect(await client.start(file.file_id)).toEqual({ file_id: file.file_id, error: null })
    expect(await client.ended(file.file_id)).toEqual({
      id: file.file_id,
      status: 'Succeeded',
      errorCode: 0,
      progress: 100,
    })
    const { url, expiry } = await client.outputUrl(file.file_id)
    expect(expiry).toBeGreaterThan(Date.now() / 1000)
    const answer = await fetch(url)
    expect(answer.headers.get('content-type')).toBe('audio/wav')
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(voice)
  })

  it('is not started without an upload, and charged once however often it is started', async () => {
    const service = await withService({ engine: plainEngine })
    const client = await apiClient(service)
    const file = await client.register('a.wav')
    expect(await client.start(file.file_id)).toMatchObject({ error: { code: 409 } })
    await client.upload(file.file_upload_link, await fixtureVoice())
    const early = await client.post('getOutputFileUrl', { fileId: file.file_id })
    expect(early.status).toBe(404)
    const starts = await Promise.all([1, 2, 3].map(() => client.start(file.file_id)))
    expect(starts.map(({ error }) => error)).toEqual([null, null, null])
    await client.ended(file.file_id)
    expect(await client.start(file.file_id)).toEqual({ file_id: file.file_id, error: null })
    expect((await client.status(file.file_id))[0]?.status).toBe('Succeeded')
    expect((await client.upload(file.file_upload_link, 'late')).status).toBe(409)
  })

  it('is left to the other nodes by one that only serves', async () => {
    const worked: string[] = []
    const engineOf = (name: string) => async () => {
      worked.push(name)
      return plainEngine()
    }
    const service = await withService({ engine: engineOf('the one that serves'), serveOnly: true })
    const client = await apiClient(service)
    const file = await client.register('a.wav')
    await client.upload(file.file_upload_link, await fixtureVoice())
    expect(await client.start(file.file_id)).toMatchObject({ error: null })
    await withService({ dataDir: service.dataDir, engine: engineOf('the other') })
    expect(await client.ended(file.file_id)).toMatchObject({ status: 'Succeeded' })
    expect(worked).toEqual(['the other'])
  })
})
