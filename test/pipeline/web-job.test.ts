import { createReadStream } from 'node:fs'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { checkFile } from '../../src/pipeline/job/check-file.js'
import { linkValidSec } from '../../src/pipeline/job/kinds/link-valid-sec.js'
import { runJobs } from '../../src/pipeline/job/run-jobs.js'
import type { JobHooks } from '../../src/pipeline/job-hooks.js'
import { changeWords } from '../../src/pipeline/output/change-words.js'
import { readReceipt } from '../../src/pipeline/output/receipt.js'
import { requireOwnOutputs } from '../../src/pipeline/plan/own-outputs.js'
import { openJobWorker } from '../../src/pipeline/queue/job-worker.js'
import { queueJob } from '../../src/pipeline/queue/queue-job.js'
import { decodedPcm, fixture, jobBench } from '../helpers/job-bench.js'
import { requestFor } from '../helpers/test-pipeline.js'
import { until } from '../helpers/until.js'

const IN_PROGRESS = [{ status: 'InProgress', errorCode: 0, progress: 50 }] as const
const SUCCEEDED = [{ status: 'Succeeded', errorCode: 0, progress: 100 }] as const

const bench = jobBench()
let site: Server
let address: string

beforeEach(async () => {
  site = createServer(async (request, response) => {
    if (request.url === '/page.wav') return response.writeHead(200).end('<!doctype html><title>Sign in</title>')
    if (request.url?.startsWith('/empty.wav')) return response.writeHead(200).end()
    if (request.url === '/closed.wav') return response.writeHead(403).end()
    if (request.url === '/huge.wav') return response.writeHead(200, { 'content-length': 1e15 }).write('RIFF')
    if (request.url === '/busy.wav') return response.writeHead(503, { 'retry-after': '0' }).end()
    if (!request.url?.startsWith('/speech.wav')) return response.writeHead(404).end()
    response.writeHead(200, { 'content-length': (await stat(fixture('speech.wav'))).size })
    return createReadStream(fixture('speech.wav')).pipe(response)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
})
afterEach(() => new Promise((resolve) => site.close(resolve)))

function webRequest(path: string, options: { remote?: boolean } = {}) {
  return { ...requestFor('unused'), input: `${address}${path}`, cwd: bench.folder.path, remote: false, ...options }
}

async function run(request: ReturnType<typeof webRequest>) {
  const [outcome] = await runJobs([request], bench.pipeline.context, { concurrency: 1 })
  if (!outcome) throw new Error('no outcome')
  return outcome
}

describe('an address as input', () => {
  it('is downloaded and treated as a local file, its output in the working folder', async () => {
    const outcome = await run(webRequest('/speech.wav?sig=secret'))
    expect(outcome.event).toMatchObject({ status: 'done', output: bench.folder.file('speech.regen.wav') })
    expect(outcome.event.input).toBe(`${address}/speech.wav?[redacted]`)
    expect(
      (await decodedPcm(bench.folder.file('speech.regen.wav'))).equals(await decodedPcm(fixture('speech.wav'))),
    ).toBe(true)
    expect(await readdir(bench.folder.file('state/downloads'))).toEqual([])
    expect(await readFile(bench.folder.file('speech.regen.wav.voxmux.json'), 'utf8')).not.toContain('secret')
  })

  it('stays downloaded until its own job ends, if another job of it ends first', async () => {
    bench.server.behaviour.states = IN_PROGRESS
    const first = run(webRequest('/speech.wav'))
    await until(() => bench.server.calls.startProcess === 1)
    const outside = requestFor('unused', { segments: [{ startSec: 90, endSec: 100 }] })
    const second = await run({
      ...webRequest('/speech.wav'),
      settings: outside.settings,
      output: bench.folder.file('second.wav'),
    })
    expect(second.event.status).toBe('failed')
    bench.server.behaviour.states = SUCCEEDED
    expect((await first).event).toMatchObject({ status: 'done' })
  })

  it('keeps its secret while it waits for the account, and in a list with two of one output', async () => {
    bench.server.fail('token', { kind: 'status', status: 401 }, Number.POSITIVE_INFINITY)
    const requests = ['1', '2'].map((name) => webRequest(`/speech.wav?name=${name}&sig=hush`))
    const outcomes = await runJobs(requests, bench.pipeline.context, { concurrency: 1 })
    const event = { status: 'pending', input: `${address}/speech.wav?[redacted]` }
    expect(outcomes[1]?.event).toMatchObject(event)
    expect(JSON.stringify(outcomes.map((outcome) => outcome.event))).not.toContain('hush')
    const shared = await requireOwnOutputs(requests).catch((error: Error) => error)
    expect(shared).toMatchObject({ code: 'ERR_OUTPUT_SHARED', message: expect.stringContaining('?[redacted] and ') })
    expect(`${(shared as Error).message}`).not.toContain('hush')
  })

  it('keeps its secret in a check, which cannot download it', async () => {
    const { file } = await checkFile(
      `${address}/speech.wav?sig=secret`,
      requestFor('unused').settings,
      { limits: {}, isEmbedded: false },
      AbortSignal.any([]),
    )
    expect(file).toMatchObject({ status: 'failed', input: `${address}/speech.wav?[redacted]` })
  })

  it('is named in place of its copy if that cannot be read', async () => {
    const { event } = await run(webRequest('/empty.wav?sig=secret'))
    expect(event.error?.message).toBe(`${address}/empty.wav?[redacted] is empty.`)
  })

  it('is skipped when its output is there', async () => {
    await run(webRequest('/speech.wav'))
    expect((await run(webRequest('/speech.wav'))).event.status).toBe('skipped')
    expect(bench.server.calls.startProcess).toBe(1)
  })

  it.each([false, true])(
    'is known as done if a crash left its output without a receipt (--remote %j)',
    async (remote) => {
      const request = webRequest('/speech.wav?sig=1', { remote })
      const { output, receipt } = (await run(request)).event
      if (output === null || receipt === null) throw new Error('no output')
      await rm(receipt)
      const before = await stat(output)
      // Links to one file differ in their signature.
      const again = await run(webRequest('/speech.wav?sig=2', { remote }))
      expect(again.event).toMatchObject({ status: 'skipped', output, receipt, error: null })
      expect((await readReceipt(receipt))?.output.path).toBe(output)
      expect((await stat(output)).ino).toBe(before.ino)
      expect(bench.server.charges).toBe(1)
    },
  )

  it.each([false, true])('publishes over the empty file of a killed attempt (--remote %j)', async (remote) => {
    const request = webRequest('/speech.wav', { remote })
    const { output, receipt } = (await run(request)).event
    if (output === null || receipt === null) throw new Error('no output')
    // Without hard links, the name is taken with an empty file first.
    await rm(receipt)
    await writeFile(output, '')
    expect((await run(request)).event).toMatchObject({ status: 'done', output })
    expect((await stat(output)).size).toBeGreaterThan(0)
    expect(bench.server.charges).toBe(1)
  })

  it.each([
    ['not there', '/nothing.wav', 'responded with status 404', 'no file is there'],
    ['not public', '/closed.wav', 'responded with status 403', 'without signing in'],
    ['a page', '/page.wav', 'It sent a web page instead of the file', 'without signing in'],
  ])('that is %s is a usage error that says so', async (_, path, message, remedy) => {
    const { error } = await run(webRequest(path))
    expect(error).toMatchObject({ code: 'ERR_INPUT_MISSING', exitCode: 2, message: expect.stringContaining(message) })
    expect(error?.remedies).toEqual([expect.stringContaining(remedy)])
  })

  it('whose server stays busy is to be tried again, and nothing of it is said to be kept', async () => {
    const { error } = await run(webRequest('/busy.wav'))
    expect(error).toMatchObject({ code: 'ERR_SERVICE_BUSY', exitCode: 4 })
    expect(error?.remedies.join()).toContain('It downloads the file from its beginning.')
    expect(error?.remedies.join()).not.toContain('kept')
  })

  it.each([false, true])('that has more than the disk is given up at once (--remote %j)', async (remote) => {
    const huge = { url: `${address}/huge.wav`, expiry: 4_000_000_000 }
    bench.server.fail('getOutputFileUrl', { kind: 'answer', body: huge })
    const { error } = await run(webRequest(remote ? '/speech.wav' : '/huge.wav', { remote }))
    expect(error).toMatchObject({ code: 'ERR_DISK_FULL', exitCode: 4 })
    expect(error?.message).toMatch(remote ? /: The regenerated file takes/ : /huge.wav takes more than nine tenths/)
  })

  it.each([false, true])('that is none is a usage error without its secret (--remote %j)', async (remote) => {
    const outcome = await run({ ...webRequest('', { remote }), input: 'https://exa mple/speech.wav?sig=hush' })
    expect(outcome.error).toMatchObject({ code: 'ERR_BAD_ADDRESS', exitCode: 2 })
    expect(JSON.stringify(outcome.event)).not.toContain('hush')
  })
})

describe('--remote', () => {
  it('fetched by the service is refused under a limit, because its length is unknown until it is paid for', async () => {
    const context = { ...bench.pipeline.context, maxSecondsPerDay: 1 }
    const [outcome] = await runJobs([webRequest('/speech.wav', { remote: true })], context, { concurrency: 1 })
    expect(outcome?.error).toMatchObject({ code: 'ERR_REMOTE_LIMIT', exitCode: 2 })
    expect(bench.server.charges).toBe(0)
  })

  it('fetched by the service is not said to be unsent, and may be read like any other file', async () => {
    await run(webRequest('/speech.wav', { remote: true }))
    expect((await stat(bench.folder.file('speech.regen.wav'))).mode & 0o777).toBe(0o666 & ~process.umask())
    const receipt = await readReceipt(bench.folder.file('speech.regen.wav.voxmux.json'))
    if (!receipt) throw new Error('no receipt')
    expect(changeWords(receipt)).toBe('regenerated as a whole by the service, which fetched the file itself')
  })

  it('has the service fetch the file', async () => {
    const outcome = await run(webRequest('/speech.wav', { remote: true }))
    expect(outcome.event).toMatchObject({ status: 'done', output: bench.folder.file('speech.regen.wav') })
    expect(bench.server.calls.registerFileFromUrl).toBe(1)
    expect(bench.server.calls.upload).toBe(0)
    const receipt = await readReceipt(outcome.event.receipt ?? '')
    expect(receipt?.input).toMatchObject({ path: `${address}/speech.wav`, sha256: null })
  })

  it('of an address whose query names the file is not taken for another file of its path', async () => {
    const [first, second] = ['1', '2'].map((id) => ({
      ...webRequest(`/speech.wav?id=${id}`, { remote: true }),
      output: bench.folder.file(`${id}.wav`),
    }))
    if (!first || !second) throw new Error('Two requests are needed.')
    bench.server.behaviour.regenerate = () => readFile(fixture('speech.wav'))
    await run(first)
    bench.server.behaviour.regenerate = () => readFile(fixture('field-recorder.wav'))
    await run(second)
    expect((await readFile(second.output)).equals(await readFile(fixture('field-recorder.wav')))).toBe(true)
    expect(bench.server.charges).toBe(2)
    const again = { ...second, input: `${second.input}&X-Amz-Signature=new`, output: bench.folder.file('again.wav') }
    const { receipt } = await run(again)
    expect(bench.server.charges).toBe(2)
    // It was not fetched again, so nobody may take it for the present file.
    expect(receipt?.notes.join()).toMatch(/regenerated before.*has changed since/)
    expect((await readReceipt(`${first.output}.voxmux.json`))?.notes.join()).not.toContain('before')
  })

  it('(queued) is a job of its own for each file that the query names', async () => {
    const { context } = bench.pipeline
    const order = { output: `${bench.folder.file('out')}/`, settings: requestFor('unused').settings, group: 'web' }
    const queued = async (query: string) =>
      (await queueJob({ ...order, input: `${address}/get?${query}` }, context)).job.id
    const [first, second] = [await queued('id=1&sig=a&se=1'), await queued('id=2&sig=b&se=2')]
    expect(second).not.toBe(first)
    expect(await queued('se=3&sig=c&id=1')).toBe(first)
  })

  it('(queued) knows what it published right before a crash, and what another put in its place', async () => {
    const { context } = bench.pipeline
    const { settings } = requestFor('unused')
    const order = { input: `${address}/speech.wav`, output: `${bench.folder.file('out')}/`, settings, group: 'web' }
    const { job } = await queueJob({ ...order, remote: true }, context)
    const output = bench.folder.file('out/speech.regen.wav')
    let isPublished = false
    const interrupted: JobHooks = {
      name: 'crash',
      afterPublish: ({ signal }) => {
        isPublished = true
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    }
    const first = openJobWorker(context, { concurrency: 1, pollMs: 20, hooks: [interrupted] })
    first.start()
    await until(() => isPublished)
    await first.stop()
    await rm(`${output}.voxmux.json`)
    const before = await stat(output)

    const second = openJobWorker(context, { concurrency: 1, pollMs: 20 })
    onTestFinished(() => second.stop())
    second.start()
    const ended = (status: string) => until(async () => (await context.jobs.get(job.id))?.status === status)
    await ended('done')
    expect(await readReceipt(`${output}.voxmux.json`)).toMatchObject({ job: job.id, output: { path: output } })
    expect((await stat(output)).ino).toBe(before.ino)
    expect(bench.server.charges).toBe(1)

    await writeFile(output, 'of somebody else')
    await context.jobs.requeue(job.id)
    second.wake()
    await ended('failed')
    expect((await context.jobs.get(job.id))?.error?.code).toBe('ERR_OUTPUT_EXISTS')
    expect(await readFile(output, 'utf8')).toBe('of somebody else')
  })

  it('refuses a link that is over in less than an hour', async () => {
    const expires = Math.floor(Date.now() / 1000) + 600
    const outcome = await run(webRequest(`/speech.wav?Expires=${expires}`, { remote: true }))
    expect(outcome.error).toMatchObject({ errorCode: -17, exitCode: 5 })
    expect(bench.server.calls.registerFileFromUrl).toBe(0)
  })

  it('ends with -17 where the service cannot fetch it', async () => {
    const outcome = await run(webRequest('/nothing.wav', { remote: true }))
    expect(outcome.error).toMatchObject({ errorCode: -17, exitCode: 1 })
  })
})

describe('linkValidSec', () => {
  const now = Date.UTC(2026, 0, 1, 12)
  it.each([
    ['https://a/b?se=2026-01-01T13%3A00%3A00Z&sig=x', 3600],
    ['https://a/b?X-Amz-Date=20260101T113000Z&X-Amz-Expires=3600', 1800],
    ['https://a/b?X-Goog-Date=20260101T120000Z&X-Goog-Expires=60', 60],
    [`https://a/b?Expires=${now / 1000 - 1}`, -1],
    ['https://a/b?expires=never', null],
    ['https://a/b', null],
  ])('reads %s', (link, sec) => {
    expect(linkValidSec(link, now)).toBe(sec)
  })
})
