import http, { Agent } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import { errorOf, test } from './harness.js'

test('plain http to this machine does not go through the agent that Node gives the proxy of the environment', async ({
  server,
  client,
  finished,
  dir,
}) => {
  const { globalAgent } = http
  onTestFinished(() => {
    http.globalAgent = globalAgent
  })
  http.globalAgent = new Agent()
  http.globalAgent.createConnection = () => {
    throw new Error('a request for the proxy')
  }
  const { fileId } = await finished(10)
  await client.download(fileId, join(dir, 'out'))
  expect(server.calls).toMatchObject({ token: 1, upload: 1, startProcess: 1, download: 1 })
})

test('a proxy of the environment that is not in use is named if the service cannot be reached', async ({
  server,
  connect,
}) => {
  onTestFinished(() => void vi.unstubAllEnvs())
  vi.stubEnv('HTTPS_PROXY', 'http://user:very-secret@proxy.example:3128')
  server.fail('ping', { kind: 'reset' }, 9)
  const error = await errorOf(connect({ retry: { limit: 0 } }).ping())
  expect(error).toMatchObject({ remedies: [expect.any(String), expect.stringContaining('NODE_USE_ENV_PROXY=1')] })
  expect(JSON.stringify(error)).not.toContain('very-secret')
  vi.stubEnv('NODE_USE_ENV_PROXY', '1')
  const [isOldNode, hint] = [!process.allowedNodeEnvironmentFlags.has('--use-env-proxy'), /Node 22\.21, 24\.5 or newer/]
  expect(await errorOf(connect({ retry: { limit: 0 } }).ping())).toMatchObject({
    remedies: [expect.any(String), ...(isOldNode ? [expect.stringMatching(hint)] : [])],
  })
})
