import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { operationMessageSchema } from '../../src/contract/index.js'
import { apiClient } from './support/api-client.js'
import { freshToken, withService } from './support/with-service.js'

const file = (client_file_id: string) => ({ file_to_register: { client_file_id } })
const fromUrl = { file_to_register: { client_file_id: 'c', source_url: 'https://example.com/c.wav' } }

it('an account registers no more files than it may leave unstarted, and again after a start', async () => {
  const service = await withService({ serveOnly: true, settings: { accounts: { maxUnstartedFiles: 2 } } })
  const client = await apiClient(service)
  const { file_id, file_upload_link } = await client.register('a')
  await client.register('b')
  for (const [operation, body] of [
    ['registerFile', file('c')],
    ['registerFileFromUrl', fromUrl],
  ] as const) {
    // The keys of an account share its limit.
    const answer = await (await apiClient(service, await freshToken(service))).post(operation, body)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '60'])
    const message = operationMessageSchema.parse(await answer.json())
    expect(message).toMatchObject({ statusCode: 429, code: 'ERR_TOO_MANY_FILES' })
  }
  await client.upload(file_upload_link, 'a')
  await client.start(file_id)
  expect((await client.post('registerFileFromUrl', fromUrl)).status).toBe(200)
  expect((await client.post('registerFile', file('d'))).status).toBe(429)
})

it('an id of a megabyte is echoed, and takes no such place in the store', async () => {
  const service = await withService({ serveOnly: true })
  const client = await apiClient(service)
  const long = 'x'.repeat(1_000_000)
  expect(await client.register(long)).toMatchObject({ client_file_id: long, file_name: long })
  // The id and the name made of it are neighbours there.
  const names = (await readdir(service.dataDir)).filter((name) => name.startsWith('service.db'))
  for (const name of names) expect((await readFile(join(service.dataDir, name))).includes('x'.repeat(2001))).toBe(false)
})
