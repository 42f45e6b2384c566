import { execFile } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { UsedFolders } from '../../../../plugins/watch-folder/folders/used-folders.js'
import { type AfterFacts, callAfter } from '../../../../plugins/watch-folder/hooks/call-after.js'
import { FolderHooks } from '../../../../plugins/watch-folder/hooks/folder-hooks.js'
import type { WatchAfter } from '../../../../src/config/watch-schema.js'
import { JobFailedError } from '../../../../src/core/errors.js'
import { silentLogger } from '../../../../src/core/logger.js'
import type { Receipt } from '../../../../src/pipeline/output/receipt.js'
import { folderOfEachTest } from '../../../helpers/system/folder-of-tests.js'
import { freePort } from '../../../helpers/system/free-port.js'
import { withServer } from '../../../service/support/file-server.js'

const script = (name: string) =>
  fileURLToPath(new URL(`../../../../plugins/watch-folder/deploy/notify/${name}`, import.meta.url))
const { signal } = new AbortController()
const DONE: AfterFacts = {
  ...{ status: 'done', output: '/out/-a $(id).mov', source: '/in/a.mov', preset: 'film', job: '01J' },
  ...{ at: '2026-01-01T00:00:00.000Z' },
  ...{ error: null, dashboard: null, report: null },
}
const FAILED: AfterFacts = {
  ...{ status: 'failed', output: null, source: '/in/ü & <b>.mov', preset: 'film', job: '01J' },
  ...{ at: '2026-01-01T00:00:00.000Z' },
  error: {
    ...{ code: 'ERR_UNREADABLE', errorCode: -2, name: 'CorruptedFile' },
    ...{ message: 'It is empty.', remedies: ['Copy it again.', 'Retry.'] },
  },
  ...{ dashboard: 'http://127.0.0.1:8780/#job/01J', report: '/in/failed/a.json' },
}

const folder = folderOfEachTest()

/** Calls as the daemon does. @returns its warnings */
async function call(after: WatchAfter, facts: AfterFacts): Promise<readonly string[]> {
  const warnings: string[] = []
  const logger = { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) }
  await callAfter(after, facts, { secret: null, signal, logger })
  return warnings
}

describe('callAfter', () => {
  it('runs a program without a shell, told by arguments and environment, with nothing secret in it', async () => {
    const target = folder.file('told')
    process.env.VOXMUX_CLIENT_SECRET = 'hidden'
    const command = ['/bin/sh', '-c', `{ printf '%s\\n' "$@"; env; } > '${target}'`, 'sh']
    try {
      expect(await call({ command }, DONE)).toEqual([])
      const told = await readFile(target, 'utf8')
      expect(told.split('\n').slice(0, 4)).toEqual(['done', '/out/-a $(id).mov', '/in/a.mov', 'film'])
      expect(told).toContain('VOXMUX_OUTPUT=/out/-a $(id).mov\n')
      expect(told).not.toContain('hidden')
      expect(await call({ command }, FAILED)).toEqual([])
    } finally {
      delete process.env.VOXMUX_CLIENT_SECRET
    }
    const why = 'VOXMUX_CODE=ERR_UNREADABLE VOXMUX_MESSAGE=It is empty. VOXMUX_REMEDIES=Copy it again.'
    for (const part of why.split(/ (?=VOXMUX)/)) expect(await readFile(target, 'utf8')).toContain(`${part}\n`)
  })

  it('retries a busy receiver with the same id, and not one that refuses', async () => {
    const ids: unknown[] = []
    const url = await withServer(async (request, response) => {
      await text(request)
      ids.push(request.headers['webhook-id'])
      response.writeHead([503, 204, 410][ids.length - 1] ?? 500).end()
    })
    expect(await call({ webhook: `${url}/secret-path` }, DONE)).toEqual([])
    expect(await call({ webhook: `${url}/secret-path` }, DONE)).toEqual([
      `after.webhook failed for /in/a.mov: ${url} responded with status 410.`,
    ])
    expect(ids).toEqual(Array(3).fill(`01J-done-${Date.parse(DONE.at)}`))
  })

  it('takes a redirect for a refusal: its target would get a GET without the facts, or the facts unasked', async () => {
    let visits = 0
    const other = await withServer(async (request, response) => {
      await text(request)
      visits += 1
      response.end()
    })
    for (const status of [301, 307]) {
      const url = await withServer(async (request, response) => {
        await text(request)
        response.writeHead(status, { location: `${other}/secret-path` }).end()
      })
      expect(await call({ webhook: url }, DONE)).toEqual([
        `after.webhook failed for /in/a.mov: ${url} redirects to ${other}, and redirects are not followed: name the new address.`,
      ])
    }
    expect(visits).toBe(0)
  })

  it('reads no body, whatever a receiver sends', async () => {
    let sent = 0
    let isOver: Promise<unknown> = Promise.resolve()
    const url = await withServer(async (request, response) => {
      await text(request)
      const blocks = Readable.from(
        (function* () {
          for (; sent < 1000; sent++) yield Buffer.alloc(100_000)
        })(),
      )
      isOver = pipeline(blocks, response).catch(() => {})
    })
    expect(await call({ webhook: url }, DONE)).toEqual([])
    await isOver
    expect(sent).toBeLessThan(500)
  })

  it('gives each end of a job an id of its own, and the same end the same one', async () => {
    const ids: unknown[] = []
    const webhook = await withServer(async (request, response) => {
      await text(request)
      ids.push(request.headers['webhook-id'])
      response.end()
    })
    const place = (name: string) => folder.file(name)
    const places = { path: place('in'), out: place('out'), failed: place('failed'), done: place('done') }
    const own = new UsedFolders({ ...places, group: 'in', source: 'keep', after: { webhook } }, new Map() as never)
    const notices = { secret: null, dashboardUrl: () => null }
    const hooks = new FolderHooks({ foldersOf: () => own, notices, logger: silentLogger })
    const data = { path: 'a.mov', sizeBytes: 1, mtimeNs: '1', contentId: 'a' }
    const job = { id: '01J', group: 'in', preset: 'film', input: place('in/a.mov'), data, signal }
    const error = new JobFailedError('ERR_FILE_FAILED', 'No voice.')
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    for (const _ of ['first', 'retried']) {
      await hooks.onFailure?.({ ...job, output: null, status: 'failed', error })
      vi.advanceTimersByTime(1000)
    }
    for (const createdAt of ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z']) {
      const receipt = { createdAt } as Receipt
      await hooks.afterPublish?.({ ...job, output: place('out/a.mov'), status: 'done', receipt, receiptPath: '' })
      vi.advanceTimersByTime(1000)
    }
    expect(ids).toHaveLength(5)
    expect(ids[2]).toBe(ids[3])
    expect(new Set(ids).size).toBe(4)
  })

  it('names a dead receiver and a dead program, and lets neither keep the other', async () => {
    const target = folder.file('told')
    const url = `http://127.0.0.1:${await freePort()}`
    expect(
      await call({ webhook: `${url}/secret-path`, command: ['/bin/sh', '-c', `: > '${target}'`] }, FAILED),
    ).toEqual([`after.webhook failed for ${FAILED.source}: ${url} was not reached (ECONNREFUSED).`])
    expect(await readFile(target, 'utf8')).toBe('')
    expect(await call({ command: ['/bin/false'] }, DONE)).toEqual([
      'after.command failed for /in/a.mov: /bin/false ended with exit code 1.',
    ])
    expect(await call({ command: ['/no/such'] }, DONE)).toEqual([expect.stringContaining('/no/such ENOENT')])
  })
})

describe('the recipes', () => {
  const lines = ['It is empty.', '→ Copy it again.', '→ Retry.', FAILED.source]
  const title = 'voxmux: ü & <b>.mov failed'

  it.each([
    [
      'slack',
      '/services/T/B/key',
      {
        text: `*voxmux: ü &amp; &lt;b&gt;.mov failed*\nIt is empty.\n→ Copy it again.\n→ Retry.\n/in/ü &amp; &lt;b&gt;.mov\n<${FAILED.dashboard}|Dashboard>`,
      },
      '/services/T/B/key',
    ],
    [
      'teams',
      '/workflows/key',
      {
        type: 'message',
        attachments: [
          {
            content: {
              body: [title, ...lines].map((line) => expect.objectContaining({ text: line })),
              actions: [{ type: 'Action.OpenUrl', title: 'Dashboard', url: FAILED.dashboard }],
            },
          },
        ],
      },
      '/workflows/key',
    ],
    ['ntfy', '/studio', { topic: 'studio', title, message: lines.join('\n'), click: FAILED.dashboard }, '/'],
  ])('post a failure to %s, and a success only with --all', async (kind, path, body, asked) => {
    const posted: unknown[] = []
    const url = await withServer(async (request, response) => {
      posted.push([request.url, request.headers.authorization, JSON.parse(await text(request))])
      response.writeHead(200).end()
    })
    writeFileSync(folder.file('address'), `${url}${path}\nBearer key\n`)
    const command = [process.execPath, script('chat.mjs'), kind, folder.file('address')]
    for (const [facts, more] of [
      [DONE, []],
      [FAILED, []],
      [DONE, ['--all']],
    ] as const)
      expect(await call({ command: [...command, ...more] }, facts)).toEqual([])
    expect(posted).toMatchObject([
      [asked, 'Bearer key', body],
      [asked, 'Bearer key', expect.anything()],
    ])
    expect(JSON.stringify(posted[1])).toContain('/out/-a $(id).mov')
  })

  it.each([
    ['slack', 'URL', /^chat\.mjs: 127\.0\.0\.1:\d+ responded with status 410\. Check the address in \S+\.\n$/],
    ['slack', '', /has no address\. Paste/],
    ['slak', 'URL', /"slak" is not known\. Use slack, teams or ntfy\./],
  ])('say why nothing was posted: %s %s', async (kind, address, said) => {
    const url = await withServer((_, response) => void response.writeHead(410).end())
    writeFileSync(folder.file('address'), address.replace('URL', `${url}/secret`))
    const args = [script('chat.mjs'), kind, folder.file('address'), 'failed', '', '/in/a.mov', 'film']
    const ended = promisify(execFile)(process.execPath, args)
    await expect(ended).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(said) })
  })

  it('mail a failure', async () => {
    const mails: string[] = []
    const port = await smtpServer((mail) => mails.push(mail))
    const config = ['url = "smtp://127.0.0.1:PORT"', 'mail-from = "voxmux@a.test"', 'mail-rcpt = "operator@b.test"']
    writeFileSync(folder.file('mail.curl'), config.join('\n').replace('PORT', String(port)))
    chmodSync(folder.file('mail.curl'), 0o600)
    const command = [script('mail.sh'), folder.file('mail.curl')]
    expect(await call({ command }, DONE)).toEqual([])
    expect(await call({ command }, FAILED)).toEqual([])
    expect(mails).toHaveLength(1)
    const [head = '', body = ''] = (mails[0] ?? '').split('\r\n\r\n')
    expect(head).toMatch(
      /^From: voxmux@a\.test\r\nTo: operator@b\.test\r\n[\s\S]*Subject: voxmux: a file is failed\r\n/,
    )
    const read = Buffer.from(body, 'base64').toString()
    for (const part of ['It is empty.', 'Copy it again.', FAILED.source, FAILED.dashboard, FAILED.report])
      expect(read).toContain(part)
  })
})

/** A mail server that takes everything (RFC 5321). @returns its port */
async function smtpServer(onMail: (mail: string) => void): Promise<number> {
  const server = createServer((socket) => serve(socket, onMail))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

function serve(socket: Socket, onMail: (mail: string) => void): void {
  const say = (line: string) => socket.write(`${line}\r\n`)
  let mail: string[] | null = null
  say('220 test')
  createInterface(socket).on('line', (line) => {
    if (mail !== null) {
      if (line !== '.') return void mail.push(line)
      onMail(mail.join('\r\n'))
      mail = null
      return void say('250 taken')
    }
    if (line === 'DATA') mail = []
    say(line === 'DATA' ? '354 go on' : line === 'QUIT' ? '221 bye' : '250 ok')
    if (line === 'QUIT') socket.end()
  })
}
