import { mkdir, rename, writeFile } from 'node:fs/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Recipe } from '../../src/config/preset-schema.js'
import { PrecheckError, UsageError } from '../../src/core/errors.js'
import type { Job } from '../../src/ledger/index.js'
import type { PipelineContext } from '../../src/pipeline/context.js'
import { endOfJob, faultOfDaemon } from '../../src/pipeline/job/job-endings.js'
import { type JobWorker, type JobWorkerOptions, openJobWorker } from '../../src/pipeline/queue/job-worker.js'
import { queueJob } from '../../src/pipeline/queue/queue-job.js'
import { FAULT_OPERATIONS } from '../helpers/fault-server/fault.js'
import { jobBench } from '../helpers/job-bench.js'
import { makeWav } from '../helpers/sound/engine-fixtures.js'
import { requestFor } from '../helpers/test-pipeline.js'
import { until } from '../helpers/until.js'

const bench = jobBench()

function work(options: Partial<JobWorkerOptions> = {}, context: PipelineContext = bench.pipeline.context): JobWorker {
  const worker = openJobWorker(context, {
    ...{ concurrency: 2, pollMs: 20, retryDelay: () => 20, probeMs: { first: 10, longest: 20 } },
    ...options,
  })
  onTestFinished(() => worker.stop())
  worker.start()
  return worker
}

async function queue(
  input: string,
  output = `${bench.folder.file('out')}/`,
  recipe: Partial<Recipe> = {},
): Promise<Job> {
  const { settings } = requestFor(input, { recipe })
  return (await queueJob({ input, output, settings, group: 'in' }, bench.pipeline.context)).job
}

/** A tone of its own: another voice than every other. */
function clip(name: string, durationSec: number): string {
  const path = bench.folder.file(name)
  const rising = (sec: number) => 0.3 * Math.sin(2 * Math.PI * (200 + 40 * sec) * sec) * (sec % 1 < 0.3 ? 1 : 0.2)
  makeWav(
    path,
    Float32Array.from({ length: durationSec * 48_000 }, (_, sample) => rising(sample / 48_000)),
  )
  return path
}

const store = () => bench.pipeline.context.jobs
const ended = (job: Job, status: Job['status']) =>
  until(async () => {
    const now = await store().get(job.id)
    return now?.status === status && now
  })
const pauses = () => store().pauses()

describe('an account that is not served', () => {
  const refusals: readonly (readonly [string, () => void])[] = [
    [
      'no credits left',
      () => {
        bench.server.behaviour.states = [{ status: 'Failed', errorCode: -10, progress: 0 }]
      },
    ],
  ]
  // In short, the next test has a wrong secret.
  const further: typeof refusals = [
    ['a wrong secret', () => bench.server.fail('token', { kind: 'status', status: 401 }, Number.POSITIVE_INFINITY)],
    ['no access', () => bench.server.fail('registerFile', { kind: 'status', status: 403 }, Number.POSITIVE_INFINITY)],
  ]

  it.each(process.env.VOXMUX_SOAK ? [...refusals, ...further] : refusals)(
    '%s: pauses the intake loudly, fails no file, and goes on by itself',
    async (_what, breakAccount) => {
      const { states } = bench.server.behaviour
      breakAccount()
      const said: string[] = []
      const logger = { ...bench.pipeline.context.logger, error: (_: object, text: string) => void said.push(text) }
      const made = [await queue(clip('a.wav', 1)), await queue(clip('b.wav', 1.2))]
      work({ logger })
      await until(async () => (await pauses()).length > 0)
      await until(() => bench.server.requests.length > 5)
      expect((await pauses())[0]).toMatchObject({ group: null, reason: expect.stringMatching(/refuses this account/) })
      for (const { id } of made) expect((await store().get(id))?.status).toMatch(/queued|working/)
      expect(said[0]).toMatch(/no file fails because of it/)
      bench.server.behaviour.states = states
      bench.server.heal()
      for (const job of made) await ended(job, 'done')
      await until(async () => (await pauses()).length === 0)
    },
  )

  it('goes on at the first login that works, not when a long file has ended, and tries at once after a start', async () => {
    const { server } = bench
    const { states } = server.behaviour
    server.fail('token', { kind: 'status', status: 401 }, Number.POSITIVE_INFINITY)
    const made = [await queue(clip('long.wav', 1)), await queue(clip('next.wav', 1.2))]
    const HOUR_MS = 3_600_000
    const first = work({ probeMs: { first: HOUR_MS, longest: HOUR_MS } })
    await until(async () => (await pauses()).length > 0)
    expect((await pauses())[0]).toMatchObject({ group: null, reason: expect.stringMatching(/refuses this account/) })
    await first.stop()
    server.heal()
    server.behaviour.states = [{ status: 'InProgress', errorCode: 0, progress: 10 }]
    work({ probeMs: { first: HOUR_MS, longest: HOUR_MS } })
    await until(async () => (await pauses()).length === 0)
    for (const { id } of made) expect((await store().get(id))?.status).not.toBe('done')
    server.behaviour.states = states
    for (const job of made) await ended(job, 'done')
  })

  it('leaves a pause of a person alone', async () => {
    bench.server.fail('registerFile', { kind: 'status', status: 403 }, 1)
    const job = await queue(clip('a.wav', 1))
    await store().pause(null, 'lunch')
    const worker = work()
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await pauses()).toMatchObject([{ group: null, reason: 'lunch' }])
    expect(await store().get(job.id)).toMatchObject({ status: 'queued', attempts: 0 })
    await worker.stop()
  })
})

/** A registration whose link would be sent in plain text. */
const insecureLink = {
  registered_file: {
    ...{ file_id: 'f', client_file_id: 'a 0:00.000-0:01.000.flac', file_name: 'a' },
    ...{ file_upload_link: 'http://storage.example.org/f', file_upload_expiry: 4_000_000_000 },
  },
}

describe('a service that is away', () => {
  const HOUR_MS = 3_600_000
  const isWaiting = (job: Job) =>
    until(async () => {
      const now = await store().get(job.id)
      return now?.error?.code === 'ERR_SERVICE_UNREACHABLE' && (now.notBeforeMs ?? 0) > Date.now() + HOUR_MS / 2
    })

  it('has what waits for it tried as soon as it is back, however far each one’s own time is; nothing is paid twice', async () => {
    const { server } = bench
    const { states } = server.behaviour
    server.behaviour.states = [{ status: 'InProgress', errorCode: 0, progress: 10 }]
    const begun = await queue(clip('begun.wav', 1))
    work({ retryDelay: () => HOUR_MS })
    await until(() => server.charges === 1)
    for (const operation of FAULT_OPERATIONS) server.fail(operation, { kind: 'reset' }, Number.POSITIVE_INFINITY)
    const made = [begun]
    for (const count of process.env.VOXMUX_SOAK ? [1, 2, 3] : [1])
      made.push(await queue(clip(`${count}.wav`, 1 + count / 10)))
    for (const job of made) await isWaiting(job)
    const { ping, ...tries } = server.calls
    await until(() => server.calls.ping > ping + 10)
    expect(server.calls).toMatchObject(tries)
    server.behaviour.states = states
    server.heal()
    for (const job of made) expect(await ended(job, 'done')).toMatchObject({ attempts: 2, error: null })
    expect(server.charges).toBe(made.length)
  })

  it.each([
    ['ERR_WRONG_ADDRESS', 'registerFile', { kind: 'answer', status: 302, headers: { location: '/sign-in' }, body: '' }],
    ['ERR_WRONG_ADDRESS', 'registerFile', { kind: 'status', status: 404 }],
    ['ERR_WRONG_ADDRESS', 'token', { kind: 'status', status: 404 }],
    ['ERR_INSECURE_ADDRESS', 'registerFile', { kind: 'answer', body: insecureLink }],
  ] as const)('because of %s at %s fails no file', async (code, operation, fault) => {
    bench.server.fail(operation, fault, Number.POSITIVE_INFINITY)
    const job = await queue(clip('a.wav', 1))
    work({ retryDelay: () => HOUR_MS })
    await until(async () => (await store().get(job.id))?.error?.code === code)
    expect(await store().get(job.id)).toMatchObject({ status: 'queued' })
    bench.server.heal()
    expect(await ended(job, 'done')).toMatchObject({ error: null })
  })

  it('is told from a fault of one file, which waits for its own time while others get through', async () => {
    const retry = { retryDelay: () => HOUR_MS, probeMs: { first: HOUR_MS, longest: HOUR_MS }, concurrency: 1 }
    work(retry)
    await ended(await queue(clip('before.wav', 1)), 'done')
    // As often as one try asks.
    bench.server.fail('registerFile', { kind: 'reset' }, 5)
    const poor = await queue(clip('poor.wav', 1.1))
    await isWaiting(poor)
    for (const count of process.env.VOXMUX_SOAK ? [2, 3] : [2])
      await ended(await queue(clip(`${count}.wav`, 1 + count / 10)), 'done')
    expect(await store().get(poor.id)).toMatchObject({ status: 'queued', attempts: 1 })
  })
})

describe('a spending limit', () => {
  it('lets what is beyond it wait for the next day, and refuses what no day has room for, both unsent', async () => {
    const context = { ...bench.pipeline.context, maxSecondsPerDay: 2 }
    const first = await queue(clip('a.wav', 1.5))
    work({ concurrency: 1 }, context)
    await ended(first, 'done')
    const second = await queue(clip('b.wav', 1))
    const waiting = await until(async () => {
      const job = await store().get(second.id)
      return job?.error?.code === 'ERR_SPENDING_LIMIT' && job
    })
    const midnight = Math.ceil(Date.now() / 86_400_000) * 86_400_000
    expect(waiting).toMatchObject({ status: 'queued', error: { message: expect.stringMatching(/2 seconds a day/) } })
    expect(waiting.notBeforeMs).toBeGreaterThanOrEqual(midnight)
    const longer = await queue(clip('c.wav', 3))
    expect(await ended(longer, 'rejected')).toMatchObject({ error: { code: 'ERR_LONGER_THAN_A_DAY' } })
    expect(bench.server.calls.registerFile).toBe(1)
  })
})

describe('a place that is not there for the moment', () => {
  it('is waited for: a share with the input', async () => {
    const share = bench.folder.file('share')
    await mkdir(share)
    const job = await queue(clip('share/a.wav', 1))
    await rename(share, `${share}.away`)
    work()
    await until(async () => (await store().get(job.id))?.error?.code === 'ERR_STORAGE_AWAY')
    await rename(`${share}.away`, share)
    await ended(job, 'done')
  })

  it('is waited for: a place for the output that is no folder yet', async () => {
    const blocked = bench.folder.file('blocked')
    await writeFile(blocked, '')
    const job = await queue(clip('a.wav', 1), `${blocked}/`, { mix: 0 })
    work()
    await until(async () => (await store().get(job.id))?.error?.code === 'ERR_OUTPUT_UNWRITABLE')
    await rename(blocked, `${blocked}.old`)
    await ended(job, 'done')
  })

  it('is told from a file that is gone', async () => {
    const input = clip('a.wav', 1)
    const job = await queue(input)
    await rename(input, `${input}.gone`)
    work()
    expect(await ended(job, 'failed')).toMatchObject({
      error: { code: 'ERR_INPUT_MISSING', message: expect.stringContaining('was moved or deleted') },
    })
  })
})

describe('the end of a job', () => {
  const job = (more: Partial<Job>) => ({ attempts: 1, input: '/x', state: {}, createdMs: 0, ...more }) as Job

  it('counts the day of retries from the first failure, not from when the job was made', async () => {
    const { retryForADay } = await import('../../src/ledger/index.js')
    const error = new UsageError('ERR_X', 'x')
    expect(retryForADay(job({}), error)).toBeGreaterThan(0)
    const yesterday = Date.now() - 25 * 3600 * 1000
    expect(retryForADay(job({ attempts: 9, state: { failingSinceMs: yesterday } }), error)).toBeNull()
    expect(retryForADay(job({ attempts: 1, state: { failingSinceMs: yesterday } }), error)).toBeGreaterThan(0)
  })

  it('is a wait for the account, and a rejection for what a hook or the pre-check refuses', async () => {
    const credits = new PrecheckError('ERR_X', 'x', { errorCode: -10 })
    expect(endOfJob(job({}), credits, () => 1)).toMatchObject({ kind: 'release', status: 'queued' })
    const veto = await faultOfDaemon(new PrecheckError('ERR_VETOED', 'x'), job({ input: import.meta.filename }))
    expect(endOfJob(job({}), veto, () => 1)).toEqual({ kind: 'fail', status: 'rejected' })
  })
})
