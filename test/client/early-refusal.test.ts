import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { errorOf, test } from './harness.js'

const REGISTERED = { file_id: 'f', client_file_id: 'a', file_name: 'a', file_upload_expiry: 4_000_000_000 }

test.for([
  [403, 'ERR_UPLOAD_LINK_EXPIRED'],
  [413, 'ERR_REQUEST_REFUSED'],
] as const)(
  'a %i of a server that closes before it has read the file is %s, not a broken network',
  async ([status, code], { client, file }) => {
    const expected: (string | undefined)[] = []
    const refuse: RequestListener = (request, response) => {
      expected.push(request.headers.expect)
      response.writeHead(status, { connection: 'close' }).end()
    }
    const server = createServer(refuse).on('checkContinue', refuse)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const link = `http://127.0.0.1:${(server.address() as AddressInfo).port}/f`
    const { path } = await file(20_000_000)
    const error = await errorOf(client.upload({ ...REGISTERED, file_upload_link: link }, path))
    expect(error).toMatchObject({ code })
    expect(expected.length).toBeLessThan(3)
  },
)

test('a file is sent after the consent of the server, once the first try broke', async ({ server, client, file }) => {
  const { path, content } = await file(2_000_000)
  server.fail('upload', { kind: 'reset' })
  await client.registerAndUpload({ clientFileId: 'a' }, path)
  expect(server.requestsOf('upload').map(({ headers }) => headers.expect)).toEqual([undefined, '100-continue'])
  expect(content.equals((await server.files[0]?.input()) ?? Buffer.of())).toBe(true)
})

test('a server that cannot be asked first gets the file unasked', async ({ server, client, file }) => {
  const { path, content } = await file(2_000_000)
  server.fail('upload', { kind: 'reset' })
  server.fail('upload', { kind: 'status', status: 417 })
  await client.registerAndUpload({ clientFileId: 'a' }, path)
  expect(server.requestsOf('upload').map(({ headers }) => headers.expect)).toEqual([
    undefined,
    '100-continue',
    undefined,
  ])
  expect(content.equals((await server.files[0]?.input()) ?? Buffer.of())).toBe(true)
})
