import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { dashboardBench, failedJob, stageDashboard } from './dashboard-bench.js'

const bench = dashboardBench(['voxmux.studio.example'])

interface Answer {
  readonly status: number
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: string
}

/** A request with exactly these headers, as no browser's fetch would send it. */
function send(
  path: string,
  method = 'GET',
  headers: Record<string, string> = {},
  port = new URL(bench.dashboard.url).port,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
    sent.once('error', reject)
    sent.end()
  })
}

const origin = () => bench.dashboard.url.slice(0, -1)

async function staged() {
  const job = await failedJob(bench.ledger, '/in', '/in/a.mov')
  const retry = `/api/jobs/${job.id}/retry`
  const good = { origin: origin(), 'x-voxmux-token': await bench.token() }
  const status = async () => (await bench.ledger.jobs.get(job.id))?.status
  return { job, retry, good, status }
}

describe('the dashboard', () => {
  it('listens on loopback alone', () => {
    expect(new URL(bench.dashboard.url).hostname).toBe('127.0.0.1')
  })

  it.each(['evil.example', 'localhost', 'localhost:1', '127.0.0.1', '127.0.0.1.evil.example'])(
    'answers nothing to a page that comes under the name %s',
    async (host) => {
      for (const path of ['/', '/metrics', '/healthz', '/api/jobs?list=done', '/events']) {
        const answer = await send(path, 'GET', { host })
        expect([path, answer.status]).toEqual([path, 421])
        expect(answer.body).not.toContain('voxmux-token')
      }
    },
  )

  it('can be asked for its health, however many pages want to be told', async () => {
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    const { port } = new URL(bench.dashboard.url)
    const listen = async () => {
      const asking = request({ host: '127.0.0.1', port, path: '/events', agent }).on('error', () => {})
      asking.end()
      const [response] = (await once(asking, 'response')) as [IncomingMessage]
      response.on('error', () => {}).resume()
      return response.statusCode
    }
    const statuses = await Promise.all(Array.from({ length: 256 }, listen))
    expect(statuses.filter((status) => status === 200)).toHaveLength(32)
    expect(statuses.filter((status) => status === 503)).toHaveLength(224)
    expect((await send('/healthz')).status).toBe(200)
  })

  it('answers under each of its own names, and those that are configured', async () => {
    const { port } = new URL(bench.dashboard.url)
    for (const host of [`localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`, 'voxmux.studio.example'])
      expect((await send('/', 'GET', { host })).status).toBe(200)
  })

  it('answers under every address if it listens at all of them, for the probes of a container, and under no other name', async () => {
    for (const address of ['0.0.0.0', '127.0.0.1']) {
      const own = await stageDashboard(bench.ledger.jobs, '/none', { host: address })
      onTestFinished(() => own.dashboard.close())
      const { port } = new URL(own.dashboard.url)
      const status = async (host: string) => (await send('/healthz', 'GET', { host }, port)).status
      const isOpen = address === '0.0.0.0'
      expect(await status(`localhost:${port}`)).toBe(200)
      for (const host of [`10.1.2.3:${port}`, `[fd00::7]:${port}`]) expect(await status(host)).toBe(isOpen ? 200 : 421)
      for (const host of [
        '10.1.2.3',
        '10.1.2.3:1',
        `10.1.2.3.evil.example:${port}`,
        `evil.example:${port}`,
        `:${port}`,
      ])
        expect(await status(host)).toBe(421)
    }
  })

  it('changes something only for its own page: token, origin and method', async () => {
    const { retry, good, status } = await staged()
    const refused: [Record<string, string>, string][] = [
      [{}, 'POST'],
      [{ origin: good.origin }, 'POST'],
      [{ 'x-voxmux-token': good['x-voxmux-token'] }, 'POST'],
      [{ ...good, origin: 'http://evil.example' }, 'POST'],
      [{ ...good, origin: 'null' }, 'POST'],
      [{ ...good, origin: `${good.origin}.evil.example` }, 'POST'],
      [{ ...good, 'x-voxmux-token': `${good['x-voxmux-token']}x` }, 'POST'],
      [{ ...good, 'x-voxmux-token': '' }, 'POST'],
      [{ ...good, 'sec-fetch-site': 'cross-site' }, 'POST'],
      [{ ...good, 'sec-fetch-site': 'same-site' }, 'POST'],
      [{ ...good, host: 'evil.example' }, 'POST'],
      [good, 'GET'],
      [good, 'HEAD'],
      [good, 'PUT'],
      [good, 'DELETE'],
      [good, 'OPTIONS'],
    ]
    for (const [headers, method] of refused) {
      const answer = await send(retry, method, headers)
      expect([403, 405, 421], `${method} ${JSON.stringify(headers)}`).toContain(answer.status)
      expect(answer.headers['access-control-allow-origin']).toBeUndefined()
      expect(await status()).toBe('rejected')
    }
    expect((await send(retry, 'POST', good)).status).toBe(200)
    expect(await status()).toBe('queued')
    expect(bench.retried).toHaveLength(1)
  })

  it('changes nothing by any GET that it serves', async () => {
    const { job, status } = await staged()
    const base = `/api/jobs/${job.id}`
    for (const path of ['/', '/healthz', '/readyz', '/metrics', '/api/jobs?list=failed', base, `${base}/receipt`])
      await send(path)
    for (const path of [`${base}/report`, `${base}/comparison`, `${base}/comparison/0/before/audio`]) {
      expect((await send(path)).status).toBe(404)
    }
    expect(await status()).toBe('rejected')
    expect(bench.retried).toEqual([])
  })

  it('lets no other site read, and lets a person follow a link', async () => {
    const foreign = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
    expect((await send('/api/jobs?list=done', 'GET', foreign)).status).toBe(403)
    const frame = { ...foreign, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }
    expect((await send('/', 'GET', frame)).status).toBe(403)
    const link = { ...foreign, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    expect((await send('/', 'GET', link)).status).toBe(200)
  })

  it.each(['/', '/api/jobs?list=done', '/nowhere', '/assets/app.js'])('guards its answer to %s', async (path) => {
    const { headers } = await send(path)
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|\*/)
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': path.startsWith('/assets/') ? 'no-cache' : 'no-store',
    })
    expect(headers['access-control-allow-origin']).toBeUndefined()
  })

  it('has nothing inline in its page, and loads nothing from elsewhere', async () => {
    const { body } = await send('/')
    expect(body).not.toMatch(/<script(?![^>]*src=)|\son\w+=|\sstyle=|<style/)
    expect([...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^(\/assets\/|#)/)]),
    )
    // A link that a person follows loads nothing.
    expect(body.replaceAll(/<a [^>]*>/g, '')).not.toMatch(/https?:/)
  })

  it.each([
    '/assets/../start-dashboard.js',
    '/assets/%2e%2e%2fstart-dashboard.js',
    '/assets/index.html',
    '/api/jobs/..%2f..%2fetc%2fpasswd/receipt',
    '/api/jobs/%2Fetc%2Fpasswd',
    '/etc/passwd',
    '//etc/passwd',
    '//',
  ])('finds no file by a path from outside: %s', async (path) => {
    expect([400, 404]).toContain((await send(path)).status)
  })
})
