import { BlobServiceClient } from '@azure/storage-blob'
import { describe, expect, it } from 'vitest'
import { apiClient } from './support/api-client.js'
import { AZURITE, AZURITE_MISSING, withAzurite } from './support/azurite.js'
import { fixtureVoice, plainEngine } from './support/engines.js'
import { withServer } from './support/file-server.js'
import { freshFolder, withService } from './support/with-service.js'

describe(AZURITE ? 'Azure Blob Storage' : `Azure Blob Storage (${AZURITE_MISSING})`, () => {
  it.skipIf(!AZURITE)('holds inputs and outputs behind SAS links', async () => {
    const connectionString = await withAzurite(await freshFolder())
    const voice = await fixtureVoice()
    const service = await withService({
      engine: plainEngine,
      azure: { connectionString, container: 'voices' },
      allowPrivateUrls: true,
      settings: { retention: { inputSec: 0.1, outputSec: 2, sweepMs: 100 } },
    })
    const client = await apiClient(service)
    const uploaded = await client.register('voice.wav')
    expect(new URL(uploaded.file_upload_link).searchParams.get('sig')).toBeTruthy()
    expect(await client.start(uploaded.file_id)).toMatchObject({ error: { code: 409 } })
    expect((await client.upload(uploaded.file_upload_link, voice)).status).toBe(201)
    const source = await withServer((_, response) => void response.end(voice))
    for (const id of [uploaded.file_id, await client.registerUrl('other.wav', `${source}/a`)]) {
      await client.start(id)
      expect((await client.ended(id)).status).toBe('Succeeded')
      const { url } = await client.outputUrl(id)
      const answer = await fetch(url, { headers: { range: 'bytes=0-9' } })
      expect([answer.status, Buffer.from(await answer.arrayBuffer())]).toEqual([206, voice.subarray(0, 10)])
      expect(answer.headers.get('content-disposition')).toContain('.wav')
      await expect.poll(async () => (await fetch(url)).status, { timeout: 30_000 }).toBe(404)
    }

    const container = BlobServiceClient.fromConnectionString(connectionString).getContainerClient('voices')
    const blobs = async () => {
      const names: string[] = []
      for await (const { name } of container.listBlobsFlat()) names.push(name)
      return names
    }
    await expect.poll(blobs, { timeout: 30_000 }).toEqual([])
  })

  it.skipIf(!AZURITE)('takes nothing more after the start, which judges the size of an upload', async () => {
    const connectionString = await withAzurite(await freshFolder())
    const service = await withService({
      engine: plainEngine,
      azure: { connectionString, container: 'voices' },
      settings: { links: { maxUploadBytes: 1000 } },
    })
    const client = await apiClient(service)
    const { file_id, file_upload_link } = await client.register('voice.wav')
    expect((await client.upload(file_upload_link, await fixtureVoice())).status).toBe(201)
    await client.start(file_id)
    expect((await client.upload(file_upload_link, 'another')).status).toBe(412)
    expect(await client.ended(file_id)).toMatchObject({ status: 'Failed', errorCode: -13 })
  })
})
