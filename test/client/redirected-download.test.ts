import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { downloadAddress } from '../../src/client/index.js'
import { errorOf, test } from './harness.js'

test.for([
  ['file:///etc/passwd?sig=very-secret', 'a "file" address'],
  ['ftp://storage.example.org/x?sig=very-secret', 'a "ftp" address'],
  ['http://[very-secret', 'an invalid address'],
] as const)('a download follows no redirect to %s', async ([location, named], { server, client, finished, dir }) => {
  const { fileId } = await finished(10)
  server.fail('download', { kind: 'redirect', location }, Number.POSITIVE_INFINITY)
  const error = await errorOf(client.download(fileId, join(dir, 'out')))
  expect(error).toMatchObject({ code: 'ERR_WRONG_ADDRESS', exitCode: 2 })
  expect(error.message).toContain(`redirects the download to ${named}`)
  expect(error.message).not.toContain('very-secret')
  expect(server.calls).toMatchObject({ download: 1 })
})

test.for([
  ['file:///etc/passwd', 'ERR_WRONG_ADDRESS'],
  ['http://storage.example.org/x', 'ERR_INSECURE_ADDRESS'],
] as const)('an input that redirects to %s is opened by the reader', async ([location, code], { dir }) => {
  const storage = createServer((_, response) => void response.writeHead(302, { location }).end())
  await once(storage.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void storage.close())
  const address = `http://127.0.0.1:${(storage.address() as AddressInfo).port}/talk.wav`
  const error = await errorOf(downloadAddress(address, join(dir, 'talk.wav')))
  const remedies = [expect.stringMatching(/^Open the address in a browser/)]
  expect(error).toMatchObject({ code, exitCode: 2, input: address, remedies })
})
