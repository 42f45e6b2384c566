import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { reachNote } from '../../src/cli/show/reach-note.js'
import { TransientError } from '../../src/core/errors.js'
import { buildApp } from '../../src/service/app.js'
import { freePort } from '../helpers/system/free-port.js'
import { freshFolder, withService } from './support/with-service.js'

const NGINX = '/usr/sbin/nginx'
const CONF = fileURLToPath(new URL('../../shell/nginx-service.conf', import.meta.url))
const MISSING = existsSync(NGINX) ? '' : ` (skipped: ${NGINX} is not installed)`

describe('the pages of an operator', () => {
  it('say that the service responds, is ready, and what it answered', async () => {
    const { baseUrl } = await withService({ serveOnly: true })
    const page = async (path: string) => fetch(`${baseUrl}${path}`)
    expect([(await page('/healthz')).status, (await page('/readyz')).status]).toEqual([200, 200])
    await page('/api/v1/nothing')
    const metrics = await (await page('/metrics')).text()
    expect(metrics).toContain('voxmux_service_responses_total{method="GET",route="/readyz",status="200"} 1\n')
    expect(metrics).toContain('status="404"} 1\n')
  })

  it('are a 503 while the store does not respond', async () => {
    const askStore = async () => {
      throw new TransientError('ERR_STORE_UNREACHABLE', 'Gone.')
    }
    const warn = () => {}
    const endpoints = { identity: { scope: 's' }, authUrl: () => '' }
    const app = buildApp({ askStore, limits: {}, endpoints, logger: { warn } } as never)
    onTestFinished(() => app.close())
    expect((await app.inject('/readyz')).statusCode).toBe(503)
    expect((await app.inject('/healthz')).statusCode).toBe(200)
  })
})

it('a service for other machines says that their clients need https, and how', () => {
  expect(reachNote('http://127.0.0.1:8080', '127.0.0.1')).toEqual([])
  expect(reachNote('https://voxmux.example', '0.0.0.0')).toEqual([])
  const said = reachNote('http://127.0.0.1:8080', '0.0.0.0').join('\n')
  expect(said).toMatch(/need https\. Put a proxy with TLS in front of http:\/\/[\d.]+:8080[\s\S]+"publicUrl"/)
})

describe('behind nginx with TLS', () => {
  it.skipIf(MISSING)(`the API, the tokens and the links of the storage work${MISSING}`, async () => {
    const folder = await freshFolder()
    const [port, tls] = [await freePort(), await freePort()]
    const storagePort = await freePort()
    const publicUrl = `https://127.0.0.1:${tls}/`
    const service = await withService({ port, storagePort, publicUrl, publicStorageUrl: publicUrl, serveOnly: true })
    const ca = await startNginx(folder, { port, storagePort, tls })
    const send = sender(ca)

    expect(service.baseUrl).toBe(`https://127.0.0.1:${tls}`)
    expect((await send(`${service.baseUrl}/metrics`)).status).toBe(404)
    const { clientId, clientSecret } = await service.createKey('test')
    const form = { client_id: clientId, client_secret: clientSecret ?? '', grant_type: 'client_credentials' }
    const tokenAt = `${service.authUrl}/${service.tenantId}/oauth2/v2.0/token`
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const token = await send(tokenAt, 'POST', type, new URLSearchParams({ ...form, scope: service.scope }).toString())
    expect(token.status, token.body).toBe(200)
    const headers = {
      authorization: `Bearer ${JSON.parse(token.body).access_token}`,
      'content-type': 'application/json',
    }
    const file = { file_to_register: { client_file_id: 'a.wav' } }
    const registered = await send(`${service.baseUrl}/api/v1/registerFile`, 'POST', headers, JSON.stringify(file))
    const link: string = JSON.parse(registered.body).registered_file.file_upload_link
    expect(link).toMatch(new RegExp(`^https://127\\.0\\.0\\.1:${tls}/voxmux/uploads/`))
    // Larger than the 1 MB that nginx takes by default.
    const sound = Buffer.alloc(3_000_000, 1).toString('latin1')
    expect((await send(link, 'PUT', { 'x-ms-blob-type': 'BlockBlob' }, sound)).status).toBe(201)
  })
})

/** @returns the certificate that clients must trust */
async function startNginx(folder: string, ports: { port: number; storagePort: number; tls: number }): Promise<Buffer> {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=voxmux', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const server = readFileSync(CONF, 'utf8')
    .replace('listen 443', `listen 127.0.0.1:${ports.tls}`)
    .replace('127.0.0.1:8080', `127.0.0.1:${ports.port}`)
    .replace('127.0.0.1:8081', `127.0.0.1:${ports.storagePort}`)
    .replace('/etc/ssl/voxmux.pem', cert)
    .replace('/etc/ssl/voxmux.key', key)
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${folder}/${one};`)
  const errorLog = join(folder, 'error.log')
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; ${user} worker_processes 1; pid ${folder}/pid; error_log ${errorLog};
     events { worker_connections 64; } http { access_log off; ${places.join(' ')} ${server} }`,
  )
  const child = spawn(NGINX, ['-c', join(folder, 'nginx.conf'), '-e', errorLog], { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('close', resolve))
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const send = sender(readFileSync(cert))
  while ((await send(`https://127.0.0.1:${ports.tls}/api/v1/limits`).catch(() => ({ status: 0 }))).status !== 200) {
    if (child.exitCode !== null) throw new Error(`nginx did not start:\n${readFileSync(errorLog, 'utf8')}`)
    await delay(20)
  }
  return readFileSync(cert)
}

function sender(ca: Buffer) {
  return (url: string, method = 'GET', headers: Record<string, string> = {}, body = '') =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const length = { 'content-length': String(Buffer.byteLength(body)) }
      const sent = request(url, { ca, method, headers: { ...headers, ...(body && length) } }, async (response) =>
        resolve({ status: response.statusCode ?? 0, body: await text(response) }),
      )
      sent.once('error', reject).end(body)
    })
}
