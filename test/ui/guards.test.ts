import { readdir, readFile, stat } from 'node:fs/promises'
import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { uiBench } from './ui-bench.js'

const bench = uiBench()

interface Answer {
  readonly status: number
  readonly body: string
  readonly headers: NodeJS.Dict<string | string[]>
}

/** A request with exactly these headers, as no browser's fetch would send it. */
function send(path: string, method = 'GET', headers: Record<string, string> = {}, body = ''): Promise<Answer> {
  const { port } = new URL(bench.ui.url)
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }))
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

const page = () => new URL(bench.ui.url)
const token = () => page().pathname.slice(1, -1)
const good = () => ({ origin: page().origin, 'x-voxmux-token': token(), 'content-type': 'application/json' })

describe('the guards of the page', () => {
  it('tell the person whose page is of an earlier start to open the new address', async () => {
    const stale = `/${'x'.repeat(43)}/`
    const opened = await send(stale, 'GET', { accept: 'text/html,*/*;q=0.8' })
    expect([opened.status, opened.headers['content-type']]).toEqual([403, 'text/plain; charset=utf-8'])
    expect(opened.body).toBe(
      'The token is missing or of an earlier start: open the address that the command printed.\n',
    )
    const pressed = await send(`${stale}api/check`, 'POST', { ...good(), 'x-voxmux-token': 'x'.repeat(43) })
    expect(pressed.status).toBe(403)
    expect(JSON.parse(pressed.body).error.message).toMatch(
      /: reload the page, or open the address that voxmux printed\.$/,
    )
  })

  it('let nobody read a file or a folder of this computer without the token', async () => {
    expect(page().hostname).toBe('127.0.0.1')
    expect(token()).toMatch(/^[\w-]{43}$/)
    const path = await bench.take('speech.wav')
    const wrong = `${token().slice(0, -1)}${token().endsWith('A') ? 'B' : 'A'}`
    for (const first of ['', '/token', `/${wrong}`, `/assets/../${wrong}`])
      for (const rest of ['/', '/api/start', '/api/folder?path=/', `/api/waveform?path=${path}`]) {
        const answer = await send(`${first}${rest}`)
        expect([first, rest, answer.status]).toEqual([first, rest, 403])
        expect(answer.body).not.toContain(token())
      }
    expect((await send(`/${token()}/api/folder?path=`)).body).toContain('speech.wav')
    expect((await send('/assets/app.js')).status).toBe(200)
  })

  it.each(['evil.example', 'localhost', '127.0.0.1', '127.0.0.1.evil.example'])(
    'answer nothing under the name %s',
    async (host) => {
      for (const path of ['/', `/${token()}/`, `/${token()}/api/start`, '/assets/app.js'])
        expect((await send(path, 'GET', { host })).status).toBe(421)
    },
  )

  it('start nothing for another page, and copy nothing from it', async () => {
    const input = await bench.take('speech.wav')
    const job = JSON.stringify({ input })
    const refused: Record<string, string>[] = [
      {},
      { origin: page().origin },
      { 'x-voxmux-token': token() },
      { ...good(), origin: 'http://evil.example' },
      { ...good(), origin: 'null' },
      { ...good(), 'x-voxmux-token': 'x' },
      { ...good(), 'sec-fetch-site': 'cross-site' },
    ]
    for (const headers of refused)
      for (const path of ['api/jobs', 'api/previews?start=0', 'api/upload?name=a.wav', 'api/check', 'api/plan'])
        expect((await send(`/${token()}/${path}`, 'POST', headers, job)).status, path).toBe(403)
    expect((await send('/api/jobs', 'POST', good(), job)).status).toBe(403)
    expect(await readdir(bench.folder.file('media'))).toEqual(['speech.wav'])
    const plan = JSON.parse((await send(`/${token()}/api/plan`, 'POST', good(), job)).body)
    expect(plan).toMatchObject({ isFree: true, output: bench.folder.file('media/speech.regen.wav'), refusal: null })
  })

  it('lets no other site read or frame it, and keeps the token out of the list of processes', async () => {
    const path = `/${token()}/api/start`
    const foreign = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
    expect((await send(path, 'GET', foreign)).status).toBe(403)
    const { headers } = await send(`/${token()}/`)
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(headers['content-security-policy']).not.toMatch(/unsafe|\*/)
    expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' })
    expect(bench.ui.startPage).not.toContain(token())
    expect((await stat(bench.ui.startPage)).mode & 0o077).toBe(0)
    expect(await readFile(bench.ui.startPage, 'utf8')).toContain(bench.ui.url)
  })

  it('says what is wrong with a request, and keeps a dropped file under a safe name', async () => {
    const of = (path: string, body: string) => send(`/${token()}/${path}`, 'POST', good(), body)
    expect(await of('api/jobs', 'nonsense')).toMatchObject({ status: 400, body: expect.stringContaining('not JSON') })
    expect(await of('api/jobs', '{"input":"a.wav","trak":1}')).toMatchObject({
      status: 400,
      body: expect.stringContaining('did you mean'),
    })
    expect((await of('api/jobs', ' '.repeat(300_000))).status).toBe(400)
    const dropped = await of(`api/upload?name=${encodeURIComponent('../../a\u0000b.wav')}`, 'sound')
    const { path } = JSON.parse(dropped.body) as { path: string }
    expect(path.startsWith(`${bench.folder.file('state/ui/')}`)).toBe(true)
    expect(path).toMatch(/\/dropped-[^/]+\/[^/]*a_b\.wav$/)
    expect(await readFile(path, 'utf8')).toBe('sound')
    expect((await send(`/${token()}/api/folder?path=/does/not/exist`)).status).toBe(404)
  })
})
