import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { reachNote } from '../../src/cli/commands/serve.js'
import { TransientError } from '../../src/core/errors.js'
import { buildApp } from '../../src/service/app.js'
import { serveFileSchema } from '../../src/service/index.js'
import { freePort } from '../helpers/system/free-port.js'
import { freshFolder, withService } from './support/with-service.js'

const NGINX = '/usr/sbin/nginx'
const CADDY = '/usr/bin/caddy'
const path = (name: string) => fileURLToPath(new URL(`../../shell/service/${name}`, import.meta.url))
const read = (name: string) => readFileSync(path(name), 'utf8')
const CAN_ANALYZE = spawnSync('systemd-analyze', ['--version']).status === 0
const PROXIES = [
  { name: 'nginx', program: NGINX, command: nginxCommand },
  { name: 'Caddy', program: CADDY, command: caddyCommand },
]

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

describe.each(PROXIES)('behind $name with TLS', ({ program, command }) => {
  const missing = existsSync(program) ? '' : ` (skipped: ${program} is not installed)`
  it.skipIf(missing)(`the API, the tokens and the links of the storage work${missing}`, async () => {
    const folder = await freshFolder()
    const [port, tls] = [await freePort(), await freePort()]
    const storagePort = await freePort()
    const publicUrl = `https://127.0.0.1:${tls}/`
    const service = await withService({ port, storagePort, publicUrl, publicStorageUrl: publicUrl, serveOnly: true })
    const ca = await startProxy(folder, { port, storagePort, tls }, command)
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

describe('the unit and the compose file of the service', () => {
  it.skipIf(!CAN_ANALYZE)(`systemd takes the unit${CAN_ANALYZE ? '' : ' (skipped: no systemd-analyze)'}`, () => {
    const unit = path('voxmux-serve.service')
    const verified = spawnSync('systemd-analyze', ['verify', unit])
    expect([verified.status, String(verified.stderr)]).toEqual([0, ''])
    const args = ['security', '--offline=yes', '--no-pager', '--threshold=25', unit]
    const { status, stdout } = spawnSync('systemd-analyze', args)
    expect([status, status === 0 ? '' : String(stdout)]).toEqual([0, ''])
  })

  it('start the service with flags and settings that it takes, and with the ports of the proxies', () => {
    const [unit, compose] = [read('voxmux-serve.service'), read('compose.yaml')]
    const flags = readFileSync(fileURLToPath(new URL('../../src/cli/commands/serve.ts', import.meta.url)), 'utf8')
    const words = [/^ExecStart=(.*)$/m.exec(unit)?.[1], /command: \[(.*)\]$/m.exec(compose)?.[1]].map(String)
    for (const line of words) {
      for (const [, flag] of line.matchAll(/--([a-z]+)/g)) expect(flags).toContain(`.option('${flag}'`)
      expect(line).toMatch(/serve,? --port,? "?8080/)
    }
    expect(serveFileSchema.parse(JSON.parse(read('service.json'))).publicUrl).toBe('https://voxmux.example')
    for (const proxy of ['Caddyfile', 'nginx.conf'])
      for (const part of ['voxmux.example', '127.0.0.1:8080', '127.0.0.1:8081']) expect(read(proxy)).toContain(part)
    for (const name of ['Caddyfile', 'service.json']) expect(compose).toContain(`- ./${name}:`)
    expect(compose).toContain('cap_drop: [ALL]')
  })
})

interface ProxyPlace {
  readonly folder: string
  readonly key: string
  readonly cert: string
  readonly port: number
  readonly storagePort: number
  readonly tls: number
}

/** @returns the certificate that clients must trust */
async function startProxy(
  folder: string,
  ports: { port: number; storagePort: number; tls: number },
  command: (place: ProxyPlace) => readonly string[],
): Promise<Buffer> {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=voxmux', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const [program = '', ...args] = command({ folder, key, cert, ...ports })
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, HOME: folder },
  })
  const said = text(child.stderr)
  const ended = new Promise((resolve) => child.once('close', resolve))
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const send = sender(readFileSync(cert))
  while ((await send(`https://127.0.0.1:${ports.tls}/api/v1/limits`).catch(() => ({ status: 0 }))).status !== 200) {
    if (child.exitCode !== null) throw new Error(`${program} did not start:\n${await said}`)
    await delay(20)
  }
  return readFileSync(cert)
}

function nginxCommand({ folder, key, cert, port, storagePort, tls }: ProxyPlace): readonly string[] {
  const server = read('nginx.conf')
    .replace('listen 443', `listen 127.0.0.1:${tls}`)
    .replace('127.0.0.1:8080', `127.0.0.1:${port}`)
    .replace('127.0.0.1:8081', `127.0.0.1:${storagePort}`)
    .replace('/etc/ssl/voxmux.pem', cert)
    .replace('/etc/ssl/voxmux.key', key)
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${folder}/${one};`)
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; ${user} worker_processes 1; pid ${folder}/pid; error_log stderr;
     events { worker_connections 64; } http { access_log off; ${places.join(' ')} ${server} }`,
  )
  return [NGINX, '-c', join(folder, 'nginx.conf'), '-e', 'stderr']
}

/** With a certificate of the test, because its name is not on the internet. */
function caddyCommand({ folder, key, cert, port, storagePort, tls }: ProxyPlace): readonly string[] {
  const site = read('Caddyfile')
    .replace(/^voxmux\.example \{$/m, `https://127.0.0.1:${tls} {\n\ttls ${cert} ${key}`)
    .replace('127.0.0.1:8080', `127.0.0.1:${port}`)
    .replace('127.0.0.1:8081', `127.0.0.1:${storagePort}`)
  writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`)
  return [CADDY, 'run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')]
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
