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
  })
})
