import { once } from 'node:events'
import { copyFileSync, readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { VoxmuxClient } from '../../src/client/index.js'
import { fixture } from '../helpers/job-bench.js'
import { makeAuthority, type TestAuthority, type TestSigner } from '../helpers/signing-authority.js'
import { folderOfTests } from '../helpers/system/folder-of-tests.js'
import { runCli } from '../helpers/voxmux-cli.js'

const folder = folderOfTests()
let authority: TestAuthority
beforeAll(async () => {
  authority = makeAuthority(folder.path)
  copyFileSync(fixture('speech.wav'), folder.file('speech.wav'))
})

const signed = (name: string, host: string, days = 30) => authority.sign(name, { usage: 'serverAuth', host, days })
const withCert = ({ cert, key }: TestSigner, options: ServerOptions = {}) =>
  createServer({ cert: readFileSync(cert), key: readFileSync(key), ...options }, (_, response) => void response.end())

/** Lets a server listen until the test ends, and counts the connections to it. */
async function listening(server: Server) {
  let connections = 0
  server.on('connection', () => void connections++)
  server.on('tlsClientError', () => {})
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, connections: () => connections }
}

/** Runs a job with a service behind a server. @returns its end, and how many connections it opened */
async function runAgainst(server: Server, extraCerts?: string, scheme = 'https') {
  const { port, connections } = await listening(server)
  const address = `${scheme}://localhost:${port}`
  const env = {
    ...{ HOME: folder.path, VOXMUX_STATE_DIR: folder.file('state') },
    ...{ VOXMUX_BASE_URL: address, VOXMUX_AUTH_URL: address, VOXMUX_TENANT_ID: 't' },
    ...{ VOXMUX_CLIENT_ID: 'c', VOXMUX_CLIENT_SECRET: 'secret', VOXMUX_SCOPE: 'api://t/.default' },
    ...(extraCerts && { NODE_EXTRA_CA_CERTS: extraCerts }),
  }
  const { exitCode, stderr } = await runCli(['speech.wav', '--progress', 'none'], { cwd: folder.path, env })
  return { exitCode, stderr, connections: connections() }
}

const CASES: readonly [string, () => Server, 'trusted' | 'unknown', RegExp, RegExp][] = [
  [
    'a certificate of an unknown authority',
    () => withCert(signed('own', 'localhost')),
    'unknown',
    /first certificate|local issuer/,
    /NODE_EXTRA_CA_CERTS/,
  ],
  [
    'a certificate that has expired',
    () => withCert(signed('old', 'localhost', -1)),
    'trusted',
    /certificate has expired/,
    /clock of this machine.*renew/,
  ],
  [
    'the certificate of another host',
    () => withCert(signed('other', 'other.example')),
    'trusted',
    /does not match certificate/,
    /Check the address.*login page/,
  ],
  [
    'nothing newer than TLS 1.1',
    () => {
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
      return withCert(signed('weak', 'localhost'), old)
    },
    'trusted',
    /\((tlsv1 alert protocol version|[\w/ ]*unsupported protocol)\)/,
    /TLS 1\.2/,
  ],
  [
    'plain http on its port',
    () => createHttpServer((_, response) => void response.end()),
    'trusted',
    /\((wrong version number|packet length too long)\)/,
    /Check the port.*does not speak TLS/,
  ],
  [
    'a wish for a certificate of the client',
    () => {
      const ca = readFileSync(authority.trustFile)
      return withCert(signed('mutual', 'localhost'), { requestCert: true, rejectUnauthorized: true, ca })
    },
    'trusted',
    /certificate required/,
    /certificate of the client/,
  ],
]

it.each(CASES)('%s ends a command at the first try', async (_, open, trust, words, remedy) => {
  const { exitCode, stderr, connections } = await runAgainst(
    open(),
    trust === 'trusted' ? authority.trustFile : undefined,
  )
  expect(stderr).toMatch(words)
  expect(stderr).toMatch(remedy)
  expect(stderr).not.toMatch(/openssl|SSL routines|u000a/)
  expect({ exitCode, connections }).toEqual({ exitCode: 2, connections: 1 })
})

it.each([
  ['closes the connection', () => withCert(signed('hangs-up', 'localhost'))],
  [
    'says so in words, as nginx does',
    () =>
      createHttpServer((_, response) => {
        response.writeHead(400, { 'content-type': 'text/html' })
        response.end('<center>The plain HTTP request was sent to HTTPS port</center>')
      }),
  ],
] as const)(
  'an address with http ends a command at the first try if the server speaks https and %s',
  async (_, open) => {
    const { exitCode, stderr, connections } = await runAgainst(open(), undefined, 'http')
    expect(stderr).toMatch(/localhost:\d+ is not secure \(the server speaks https there\)/)
    expect(stderr).toMatch(/Begin the address with https:/)
    expect(exitCode).toBe(2)
    // The request, and a look at which protocol the server speaks.
    expect(connections).toBeLessThanOrEqual(2)
  },
)

it('a download by https follows no redirect to plain http on this machine', async () => {
  const local = await listening(createHttpServer((_, response) => void response.end('secret')))
  const location = `http://127.0.0.1:${local.port}/talk.wav`
  const { cert, key } = signed('storage', 'localhost')
  const storage = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
    response.writeHead(request.method === 'HEAD' ? 404 : 302, { location }).end()
  })
  const address = `https://localhost:${(await listening(storage)).port}/talk.wav`
  const env = { HOME: folder.path, VOXMUX_STATE_DIR: folder.file('state'), NODE_EXTRA_CA_CERTS: authority.trustFile }
  const { exitCode, stderr } = await runCli([address, '--progress', 'none'], { cwd: folder.path, env })
  expect(stderr).toMatch(
    /A redirect of the download uses plain http: http:\/\/127\.0\.0\.1.*\n.*Open the address in a browser/,
  )
  expect({ exitCode, connections: local.connections() }).toEqual({ exitCode: 2, connections: 0 })
})

it('a plain server that breaks a connection is tried again', async () => {
  const server = createHttpServer((request) => void request.socket.destroy())
  const { port, connections } = await listening(server)
  const address = `http://localhost:${port}`
  const credentials = { tenantId: 't', clientId: 'c', clientSecret: 'secret', scope: 'api://t/.default' }
  const client = new VoxmuxClient({
    baseUrl: address,
    authUrl: address,
    ...credentials,
    retry: { limit: 2, baseMs: 1 },
  })
  onTestFinished(() => client.close())
  await expect(client.ping()).rejects.toMatchObject({ exitCode: 4 })
  expect(connections()).toBeGreaterThanOrEqual(3)
})
