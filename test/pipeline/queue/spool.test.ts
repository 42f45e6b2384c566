import { chmodSync, writeFileSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { resolveConfig } from '../../../src/config/index.js'
import { TransientError } from '../../../src/core/errors.js'
import { type Logger, silentLogger } from '../../../src/core/logger.js'
import { isEnded } from '../../../src/ledger/index.js'
import type { queuedFileOfRequest } from '../../../src/pipeline/queue/job-request.js'
import { openJobWorker } from '../../../src/pipeline/queue/job-worker.js'
import { Spool, type SpoolOptions } from '../../../src/pipeline/queue/spool.js'
import { takeRequest } from '../../../src/pipeline/queue/take-request.js'
import { jobBench } from '../../helpers/job-bench.js'
import { until } from '../../helpers/until.js'

const bench = jobBench()
let folder: string

beforeEach(async () => {
  folder = bench.folder.file('spool')
  await mkdir(folder)
})

const configOf: Parameters<typeof queuedFileOfRequest>[2] = (flags) =>
  resolveConfig({ cwd: bench.folder.path, env: {}, flags, folders: { config: null, data: null } as never })

const enqueue: SpoolOptions['take'] = (request, ticket) =>
  takeRequest(request, bench.pipeline.context, { ticket, group: 'spool', configOf })

async function open(take: SpoolOptions['take'] = enqueue, logger: Logger = silentLogger): Promise<Spool> {
  const spool = new Spool({ folder, take, logger })
  onTestFinished(() => spool.stop())
  await spool.start()
  return spool
}

/** As a hook does it: under a hidden name, then renamed. */
async function drop(name: string, job: unknown): Promise<void> {
  const hidden = join(folder, `.${name}.part`)
  await writeFile(hidden, typeof job === 'string' ? job : JSON.stringify(job))
  await rename(hidden, join(folder, name))
}

const jobs = () => bench.pipeline.context.jobs.list()
const left = async () => (await readdir(folder)).sort()

it('takes a job, with everything it says, and deletes its file', async () => {
  const input = await bench.take('speech.wav')
  await open()
  await drop('a.json', {
    input,
    output: '/out/',
    preset: 'podcast',
    segments: [{ startSec: 1 }],
    keepOriginal: true,
    qc: 'netflix',
    mix: 60,
  })
  const [job] = await until(async () => (await left()).length === 0 && jobs())
  expect(job).toMatchObject({ input, group: 'spool', preset: 'podcast', status: 'queued' })
  expect(job?.state.order).toMatchObject({
    output: '/out/',
    settings: { segments: [{ startSec: 1 }], recipe: { keepOriginal: true, mix: 60, qc: 'netflix' } },
  })
})

it('puts the output beside the input where none is named, and takes several jobs of one file', async () => {
  const [one, two] = [await bench.take('speech.wav'), await bench.take('silence.wav')]
  await drop('both.json', [{ input: one }, { input: two }])
  await open()
  await until(async () => (await left()).length === 0)
  const orders = (await jobs()).map(({ state }) => (state.order as { output: string }).output)
  expect(orders).toEqual([`${bench.folder.path}/`, `${bench.folder.path}/`])
})

it('never looks at what is hidden, or not JSON by name', async () => {
  await writeFile(join(folder, '.half.json'), '{"inp')
  await writeFile(join(folder, 'notes.txt'), 'notes')
  await drop('a.json', { input: await bench.take('speech.wav') })
  await open()
  await until(async () => (await jobs()).length === 1)
  await until(async () => (await left()).length === 2)
  expect(await left()).toEqual(['.half.json', 'notes.txt'])
})

it.each([
  ['no JSON', '{"input":', /is not JSON/],
  ['a key that does not exist', { input: '/a.mov', inputt: 1 }, /inputt/],
  ['no jobs', [], /is not a valid job: The list of jobs is empty\./],
  ['a job without an input', [{}], /is not a valid job: The job: "input" is missing\./],
  ['a relative path', { input: 'a.mov' }, /ERR_ORDER_RELATIVE.*\n.*absolute path/],
  ['a preset that does not exist', { input: '/a.mov', preset: 'nonesuch' }, /nonesuch/],
  ['an address without an output', { input: 'https://media.example/a.mov?sig=x' }, /ERR_ORDER_WITHOUT_OUTPUT/],
])('sets %s aside with the reason, and goes on', async (_what, job, reason) => {
  await drop('bad.json', job)
  await drop('good.json', { input: await bench.take('speech.wav') })
  await open()
  await until(async () => (await jobs()).length === 1)
  await until(async () => !(await left()).some((name) => name.endsWith('.json')))
  expect(await left()).toEqual(['bad.json.rejected', 'bad.json.rejected.txt'])
  expect(await readFile(join(folder, 'bad.json.rejected.txt'), 'utf8')).toMatch(reason)
})

it('follows no link out of the folder', async () => {
  const secret = bench.folder.file('secret.json')
  await writeFile(secret, JSON.stringify({ input: await bench.take('speech.wav') }))
  await symlink(secret, join(folder, 'link.json'))
  await open()
  await until(async () => (await left()).includes('link.json.rejected'))
  expect(await jobs()).toEqual([])
})

it('sets aside what names a file that is not there', async () => {
  await drop('gone.json', { input: bench.folder.file('gone.mov') })
  await open()
  await until(async () => (await left()).includes('gone.json.rejected.txt'))
  expect(await readFile(join(folder, 'gone.json.rejected.txt'), 'utf8')).toMatch(/ERR_INPUT_MISSING/)
})

it('tries again what fails for the moment', async () => {
  let tries = 0
  await drop('a.json', { input: await bench.take('speech.wav') })
  await open(async (request, ticket) => {
    tries += 1
    if (tries === 1) throw new TransientError('ERR_STORE_BUSY', 'Busy.')
    return enqueue(request, ticket)
  })
  await until(async () => (await left()).length === 0)
  expect(await jobs()).toHaveLength(1)
})

it('forces a job once, also where a crash came between taking it and deleting its file', async () => {
  const input = await bench.take('speech.wav')
  const { jobs: store } = bench.pipeline.context
  const finish = async () => {
    const claimed = await store.claimNext()
    if (!claimed) throw new Error('nothing to claim')
    await store.complete(claimed.lease, { status: 'done' })
  }
  const force = { input, force: true }
  // The same file, with its time, as it lay there when the worker was killed.
  await drop('a.json', force)
  const { mtimeMs } = await stat(join(folder, 'a.json'))
  await enqueue(force, `a.json@${mtimeMs}#0`)
  await finish()
  await open()
  await until(async () => (await left()).length === 0)
  expect(await jobs()).toMatchObject([{ status: 'done' }])
  for (const name of ['a.json', 'b.json']) {
    await drop(name, force)
    await until(async () => (await left()).length === 0)
    expect(await jobs()).toMatchObject([{ status: 'queued' }])
    await finish()
  }
})

it('says that a folder is missing', async () => {
  const spool = new Spool({ folder: join(folder, 'none'), take: enqueue, logger: silentLogger })
  await expect(spool.start()).rejects.toMatchObject({ code: 'ERR_SPOOL_MISSING', exitCode: 2 })
})

describe('a folder that the worker may not write to', () => {
  const isRoot = process.getuid?.() === 0
  /** Root may write everywhere: as somebody else. */
  async function asSomebodyElse(work: () => Promise<void>): Promise<void> {
    await chmod(bench.folder.path, 0o755)
    if (isRoot) process.seteuid?.(65534)
    try {
      await work()
    } finally {
      if (isRoot) process.seteuid?.(0)
    }
  }

  it('is refused before anything is taken', async () => {
    await drop('a.json', { input: '/a.mov' })
    await chmod(folder, 0o555)
    const taken: unknown[] = []
    await asSomebodyElse(async () => {
      const started = open(async (request) => taken.push(request))
      await expect(started).rejects.toMatchObject({ code: 'ERR_SPOOL_UNWRITABLE', exitCode: 2 })
    })
    expect(taken).toEqual([])
    await chmod(folder, 0o755)
    expect(await left()).toEqual(['a.json'])
  })

  it('since it was closed under the worker: each job is taken once, and spoken of once', async () => {
    await drop('a.json', { input: '/a.mov' })
    await chmod(folder, 0o777)
    const [taken, said] = [[] as unknown[], [] as string[]]
    const hear = (_: object, message: string) => void said.push(message)
    const close = async (request: unknown) => {
      taken.push(request)
      if (isRoot) process.seteuid?.(0)
      writeFileSync(join(folder, 'b.json'), 'no JSON')
      chmodSync(folder, 0o555)
      if (isRoot) process.seteuid?.(65534)
    }
    await asSomebodyElse(async () => {
      const spool = await open(close, { ...silentLogger, warn: hear, error: hear })
      await until(() => said.length === 2)
      // However many more times it looks.
      await delay(1200)
      await spool.stop()
    })
    expect(taken).toEqual([{ input: '/a.mov' }])
    expect(said).toEqual([
      expect.stringMatching(/a\.json was enqueued and cannot be deleted/),
      expect.stringMatching(/b\.json was rejected and cannot be renamed\. .*not JSON\. Permission denied/),
    ])
    await chmod(folder, 0o755)
    expect(await left()).toEqual(['a.json', 'b.json'])
  })
})

it('takes a job that got the name of one in hand, too', async () => {
  const [one, two] = [await bench.take('speech.wav'), await bench.take('silence.wav')]
  let hasCome = false
  await drop('a.json', { input: one })
  await open(async (request, ticket) => {
    // A long input is read for minutes before its job is queued.
    if (!hasCome) await drop('a.json', { input: two })
    hasCome = true
    await enqueue(request, ticket)
  })
  await until(async () => (await left()).length === 0)
  expect((await jobs()).map(({ input }) => input).sort()).toEqual([one, two].sort())
})

it('sets a wrong job aside, and not the right one that got its name', async () => {
  const input = await bench.take('speech.wav')
  await drop('a.json', { input: 'relative.wav' })
  await open(async (request, ticket) => {
    if (request.input !== input) await drop('a.json', { input })
    await enqueue(request, ticket)
  })
  await until(async () => (await jobs()).length === 1)
  await until(async () => !(await left()).includes('a.json'))
  expect((await jobs()).map((job) => job.input)).toEqual([input])
})

it('runs a job that failed again when it is written again, and one that is done not', async () => {
  const { context } = bench.pipeline
  const input = await bench.take('speech.wav')
  bench.server.fail('registerFile', { kind: 'status', status: 400 })
  const worker = openJobWorker(context, { concurrency: 1, pollMs: 20 })
  onTestFinished(() => worker.stop())
  worker.start()
  await open()
  const written = async () => {
    await drop('a.json', { input, output: `${bench.folder.file('out')}/` })
    await until(async () => (await left()).length === 0)
    const [job] = await until(async () => (await jobs()).every(({ status }) => isEnded(status)) && jobs())
    return job?.status
  }
  expect(await written()).toBe('failed')
  expect(await written()).toBe('done')
  await rm(join(bench.folder.file('out'), 'speech.regen.wav'))
  expect(await written()).toBe('done')
  expect([(await jobs()).length, bench.server.charges]).toEqual([1, 1])
})

it('follows no link that another user put into its folder', async () => {
  const other = bench.folder.file('other')
  await writeFile(other, 'kept')
  await symlink(other, join(folder, 'bad.json.rejected.txt'))
  await open()
  await drop('bad.json', 'not JSON')
  await until(async () => (await left()).includes('bad.json.rejected'))
  expect(await readFile(other, 'utf8')).toBe('kept')
  expect(await readFile(join(folder, 'bad.json.rejected.txt'), 'utf8')).toContain('not JSON')
})

it('keeps a rejected job when another of its name is rejected', async () => {
  const spool = await open()
  for (const name of ['one.wav', 'two.wav']) {
    await drop('a.json', { input: name })
    await until(async () => !(await left()).includes('a.json'))
  }
  await spool.stop()
  expect(await left()).toEqual(['a.json.2.rejected', 'a.json.2.rejected.txt', 'a.json.rejected', 'a.json.rejected.txt'])
  expect(await readFile(join(folder, 'a.json.rejected'), 'utf8')).toContain('one.wav')
})
