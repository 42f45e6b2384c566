import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { probe } from '../../src/media/index.js'
import { openPortal } from '../../src/service/index.js'
import { type ApiClient, apiClient } from './support/api-client.js'
import { freshFolder, withService } from './support/with-service.js'

const fixture = (name: string) => readFile(new URL(`../../fixtures/${name}`, import.meta.url))

async function processed(client: ApiClient, name: string, part = {}, options = {}) {
  const { file_id, file_upload_link } = await client.register(name, part)
  await client.upload(file_upload_link, await fixture(name))
  await client.start(file_id, options)
  return client.ended(file_id)
}

/** What came back, as ffprobe sees it. */
async function output(client: ApiClient, fileId: string) {
  const answer = await fetch((await client.outputUrl(fileId)).url)
  const path = join(await freshFolder(), 'output')
  await writeFile(path, Buffer.from(await answer.arrayBuffer()))
  return { media: await probe(path), type: answer.headers.get('content-type') }
}

describe('the service with its own engine', () => {
  it('gives video as video', async () => {
    const client = await apiClient(await withService())
    const film = await processed(client, 'interview.mp4')
    expect(film).toMatchObject({ status: 'Succeeded', progress: 100 })
    const { media, type } = await output(client, film.id)
    expect([media.container, type]).toEqual(['mp4', 'video/mp4'])
    expect(media.streams.some(({ kind }) => kind === 'video')).toBe(true)
  })

  it('gives audio in its own format or another, and the part alone', async () => {
    const client = await apiClient(await withService())
    const voice = await processed(client, 'speech.flac')
    expect((await output(client, voice.id)).media.container).toBe('flac')

    const part = await processed(client, 'speech.wav', { start: 0.5, end: 1.5 }, { output_type: 'mp3' })
    const cut = await output(client, part.id)
    expect([cut.media.container, cut.type]).toEqual(['mp3', 'audio/mpeg'])
    expect(cut.media.durationSec).toBeCloseTo(1, 1)
  })

  it('publishes its limits', async () => {
    const limits = { maxSampleRate: 48_000, containers: ['wav'] }
    const service = await withService({ limits })
    expect(await (await fetch(`${service.baseUrl}/api/v1/limits`)).json()).toEqual(limits)
  })

  it('takes credits for what it processed, once, and ends with -10 when they are used up', async () => {
    const service = await withService()
    const client = await apiClient(service)
    const portal = await openPortal({ dataDir: service.dataDir })
    const user = await portal.accounts.ensure('local')
    const credits = async () => (await portal.accounts.byId(user.id))?.creditsSec
    await portal.accounts.setCredits(user.id, 3)
    expect((await processed(client, 'speech.wav', { end: 2 })).status).toBe('Succeeded')
    expect(await credits()).toBeCloseTo(1, 5)
    expect(await processed(client, 'speech.wav', { end: 2 })).toMatchObject({ status: 'Failed', errorCode: -10 })
    expect((await processed(client, 'surround.wav', { end: 0.5 })).errorCode).toBe(-4)
    expect(await credits()).toBeCloseTo(1, 5)
    await portal.accounts.setCredits(user.id, null)
    expect((await processed(client, 'speech.wav', { end: 2 })).status).toBe('Succeeded')
    await portal.close()
  })
})
