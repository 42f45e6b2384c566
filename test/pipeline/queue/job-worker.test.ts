import { copyFile, readdir, rm } from 'node:fs/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { errorReport, TransientError } from '../../../src/core/errors.js'
import type { Job } from '../../../src/ledger/index.js'
import type { JobEvent } from '../../../src/pipeline/events.js'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import type { JobHooks } from '../../../src/pipeline/job-hooks.js'
import { readReceipt } from '../../../src/pipeline/output/receipt.js'
import { receiptPath } from '../../../src/pipeline/plan/output-path.js'
import { type JobWorker, type JobWorkerOptions, openJobWorker } from '../../../src/pipeline/queue/job-worker.js'
import { queueJob } from '../../../src/pipeline/queue/queue-job.js'
import type { QueuedFile } from '../../../src/pipeline/queue/queued-file.js'
import { decodedPcm, fixture, jobBench } from '../../helpers/job-bench.js'
import { ffmpeg } from '../../helpers/media-factory.js'
import { openTestPipeline, requestFor } from '../../helpers/test-pipeline.js'
import { until } from '../../helpers/until.js'

const bench = jobBench()

function work(options: Partial<JobWorkerOptions> = {}, context = bench.pipeline.context): JobWorker {
  const worker = openJobWorker(context, { concurrency: 2, pollMs: 20, ...options })
  onTestFinished(() => worker.stop())
  worker.start()
  return worker
}

async function queue(name: string, more: Partial<QueuedFile> = {}): Promise<Job> {
  const input = more.input ?? (await bench.take(name))
  const { settings } = requestFor(input)
  const order = { input, output: `${bench.folder.file('out')}/`, settings, group: 'in', ...more }
  return (await queueJob(order, bench.pipeline.context)).job
}

/** A job that copies its input: it has the life of every job, and no voice. */
async function queueCopy(more: Partial<QueuedFile> = {}): Promise<Job> {
  const input = await bench.take('speech.wav')
  return queue('', { input, settings: requestFor(input, { recipe: { mix: 0 } }).settings, ...more })
}

const jobOf = ({ id }: Job) => bench.pipeline.context.jobs.get(id)
const ended = (job: Job, status: Job['status']) =>
  until(async () => {
    const now = await jobOf(job)
    return now?.status === status && now
  })

const witness = (calls: string[]): JobHooks => ({
  name: 'witness',
  beforePlan: ({ id, data }) => void calls.push(`before ${id} ${JSON.stringify(data)}`),
  afterPlan: ({ plan }) => void calls.push(`plan ${plan.tracks.length}`),
  afterPublish: ({ status, receipt }) => void calls.push(`${status} ${receipt?.voices.length}`),
  onFailure: ({ status, error }) => void calls.push(`${status} ${error.code}`),
})

describe('a worker', () => {
  it('does what is queued, as runJob does it, calls its hooks, and tells each event with the job’s id', async () => {
    const events: JobEvent[] = []
    const calls: string[] = []
    const job = await queue('timecode.mov', { outputStem: 'timecode', data: { reel: 1 } })
    work({ onEvent: (event) => events.push(event), hooks: [witness(calls)] })
    const done = await ended(job, 'done')
    const output = bench.folder.file('out/timecode.mov')
    expect(done).toMatchObject({ output, receipt: `${output}.voxmux.json`, attempts: 1 })
    expect((await decodedPcm(output)).equals(await decodedPcm(job.input))).toBe(true)
    await until(() => events.some(({ event }) => event === 'file'))
    expect(new Set(events.map(({ id }) => id))).toEqual(new Set([job.id]))
    expect(events.at(-1)).toMatchObject({ event: 'file', status: 'done', output })
    expect(calls).toEqual([`before ${job.id} {"reel":1}`, 'plan 1', 'done 1'])
    expect(bench.server.charges).toBe(1)
  })

  it('shows what it has in hand, and gives it back when it stops', async () => {
    bench.server.behaviour.states = [{ status: 'InProgress', errorCode: 0, progress: 40 }]
    const job = await queue('speech.wav')
    const worker = work()
    await until(() => worker.running.find(({ stage, percent }) => stage === 'process' && percent === 40))
    expect(worker.running[0]?.job.id).toBe(job.id)
    await worker.stop()
    expect(worker.running).toEqual([])
    expect(await jobOf(job)).toMatchObject({ status: 'queued', holder: null, error: null })
    expect(await readdir(bench.folder.file('state/work'))).toEqual([])
  })

  it('reports no failure of a job that it has lost, because that may be the work of the one that has it', async () => {
    bench.server.behaviour.states = [{ status: 'InProgress', errorCode: 0, progress: 40 }]
    const calls: string[] = []
    const job = await queue('speech.wav')
    const worker = work({ hooks: [witness(calls)] })
    await until(() => worker.running.some(({ stage }) => stage === 'process'))
    await bench.pipeline.context.jobs.cancel(job.id, errorReport(new TransientError('ERR_OTHER', 'Of another.')))
    bench.server.behaviour.states = [{ status: 'Failed', errorCode: -3, progress: 40 }]
    await until(() => worker.running.length === 0)
    await worker.stop()
    expect(calls).toEqual([`before ${job.id} {}`, 'plan 1'])
    expect(await jobOf(job)).toMatchObject({ status: 'failed', error: { code: 'ERR_OTHER' } })
  })

  it('pays once for the same content, and does it twice', async () => {
    const first = await queue('speech.wav')
    const copy = bench.folder.file('again.wav')
    await copyFile(first.input, copy)
    const second = await queue('', { input: copy })
    work()
    await ended(first, 'done')
    await ended(second, 'done')
    expect(bench.server.charges).toBe(1)
    const names = (await readdir(bench.folder.file('out'))).filter((name) => name.endsWith('.wav'))
    expect(names.sort()).toEqual(['again.regen.wav', 'speech.regen.wav'])
  })

  it('lets one bad file hold up nothing', async () => {
    const bad = await queue('text.mp4')
    const good = await queueCopy()
    work({ concurrency: 1 })
    await ended(good, 'done')
    expect(await ended(bad, 'rejected')).toMatchObject({ error: { errorCode: -2 } })
  })

  it('tries again later what failed for the moment, and tells it as pending', async () => {
    bench.server.fail('registerFile', { kind: 'status', status: 503 }, 5)
    const events: JobEvent[] = []
    const job = await queue('speech.wav')
    work({ retryDelay: () => 1, onEvent: (event) => events.push(event) })
    expect((await ended(job, 'done')).attempts).toBeGreaterThan(1)
    expect(events).toContainEqual(expect.objectContaining({ event: 'file', status: 'pending', id: job.id }))
  })

  it('leaves alone what `run` was interrupted in', async () => {
    const input = await bench.take('speech.wav')
    const controller = new AbortController()
    bench.server.behaviour.states = [{ status: 'InProgress', errorCode: 0, progress: 40 }]
    await runJob(requestFor(input), bench.pipeline.context, {
      signal: controller.signal,
      onEvent: (event) => event.event === 'progress' && event.percent === 40 && controller.abort(),
    })
    const [job] = await bench.pipeline.context.jobs.list()
    if (!job) throw new Error('no job')
    work()
    await until(async () => ((await jobOf(job))?.notBeforeMs ?? 0) > Date.now())
    expect(await jobOf(job)).toMatchObject({ status: 'queued' })
  })

  it('lets a newer version take the place of an output that it made, and nothing else', async () => {
    const input = await bench.take('speech.wav')
    const first = await queue('', { input, supersede: true })
    const worker = work()
    await ended(first, 'done')
    await ffmpeg('-i', fixture('speech.wav'), '-af', 'volume=0.5', input)
    const second = await queue('', { input, supersede: true })
    worker.wake()
    await ended(second, 'done')
    const output = bench.folder.file('out/speech.regen.wav')
    expect((await decodedPcm(output)).equals(await decodedPcm(input))).toBe(true)
    // And back: the first version is the newest now.
    await bench.take('speech.wav')
    expect(await queue('', { input, supersede: true })).toMatchObject({ id: first.id, status: 'queued' })
    worker.wake()
    await ended(first, 'done')
    expect((await decodedPcm(output)).equals(await decodedPcm(input))).toBe(true)
    expect(bench.server.charges).toBe(2)
    const third = await queue('', { input: await bench.take('timecode.mov'), output })
    worker.wake()
    expect(await ended(third, 'failed')).toMatchObject({ error: { code: 'ERR_OUTPUT_EXISTS' } })
  })
})

describe('the hooks of a job', () => {
  it('are called by runJob too, those of the context first', async () => {
    const calls: string[] = []
    const context = { ...bench.pipeline.context, hooks: [{ name: 'a', afterPlan: () => void calls.push('a') }] }
    const copy = requestFor(await bench.take('speech.wav'), { recipe: { mix: 0 } })
    const outcome = await runJob(copy, context, { hooks: [witness(calls)] })
    expect(outcome.event.status).toBe('done')
    expect(calls.slice(1)).toEqual(['a', 'plan 1', 'done 0'])
  })

  it.each([
    ['a reason', () => 'it is Sunday', 'it is Sunday'],
    ['a throw', () => Promise.reject(new Error('no such table')), 'no such table'],
  ])('veto by %s: refused with the name, before anything is sent', async (_what, afterPlan, said) => {
    const calls: string[] = []
    const job = await queue('speech.wav')
    work({ hooks: [{ name: 'rights', afterPlan }, witness(calls)] })
    const { error } = await ended(job, 'rejected')
    expect(error).toMatchObject({
      code: 'ERR_VETOED',
      message: expect.stringMatching(new RegExp(`"rights" refused .*: ${said}`)),
    })
    expect(calls.at(-1)).toBe('rejected ERR_VETOED')
    expect(bench.server.calls.registerFile).toBe(0)
  })

  it('may put a job off by an error of their own', async () => {
    let asked = 0
    const beforePlan = () => {
      asked += 1
      if (asked === 1) throw new TransientError('ERR_SERVICE_BUSY', 'The rights desk sleeps.')
      return undefined
    }
    const job = await queueCopy()
    work({ retryDelay: () => 1, hooks: [{ name: 'rights', beforePlan }] })
    expect(await ended(job, 'done')).toMatchObject({ attempts: 2 })
  })

  it('warn where they fail after the job, which is done', async () => {
    const warnings: string[] = []
    let tries = 0
    const afterPublish = () => {
      tries += 1
      throw new Error('mail server is away')
    }
    const logger = { ...bench.pipeline.context.logger, warn: (_: object, text: string) => void warnings.push(text) }
    const job = await queueCopy()
    work({ hooks: [{ name: 'mail', afterPublish }], logger })
    await ended(job, 'done')
    expect(tries).toBe(3)
    expect(warnings).toEqual([expect.stringMatching(/^mail failed after the job: .*mail server is away/)])
  })

  it('run before the ledger says that it ended, and again after a crash between', async () => {
    const statuses: (string | undefined)[] = []
    const job = await queue('speech.wav')
    const stuck = new Promise<void>(() => {})
    const first = openJobWorker(bench.pipeline.context, {
      ...{ concurrency: 1, pollMs: 20 },
      hooks: [
        {
          name: 'crash',
          afterPublish: async ({ id, signal }) => {
            statuses.push((await bench.pipeline.context.jobs.get(id))?.status)
            await Promise.race([stuck, new Promise((resolve) => signal.addEventListener('abort', resolve))])
            throw new Error('interrupted')
          },
        },
      ],
    })
    first.start()
    await until(() => statuses.length > 0)
    expect(statuses).toEqual(['working'])
    await first.stop()
    const calls: string[] = []
    work({ hooks: [witness(calls)] })
    await ended(job, 'done')
    expect(calls.at(-1)).toBe('skipped 1')
    expect(bench.server.charges).toBe(1)
  })

  it('hear of a failure once it is final', async () => {
    const calls: string[] = []
    bench.server.behaviour.states = [{ status: 'Failed', errorCode: -3, progress: 10 }]
    const job = await queue('speech.wav')
    work({ hooks: [witness(calls)] })
    await ended(job, 'failed')
    expect(calls.at(-1)).toMatch(/^failed ERR_/)
  })
})

describe('a job that was done', () => {
  it('is not paid for again: its output as an input, a lost ledger, a lost receipt, a lost output', async () => {
    const job = await queue('speech.wav')
    const worker = work()
    const output = String((await ended(job, 'done')).output)
    const receipt = receiptPath(output)

    const own = await queue('', { input: output, output: `${bench.folder.file('again')}/` })
    worker.wake()
    await ended(own, 'skipped')
    expect(await readdir(bench.folder.path)).not.toContain('again')

    // The ledger is rebuilt from the receipt beside the output.
    const calls = bench.server.calls.registerFile
    const order = { input: job.input, output: `${bench.folder.file('out')}/`, settings: requestFor(job.input).settings }
    const withLedger = async (name: string, cache = bench.pipeline.context.cache) => {
      const { context, close } = await openTestPipeline(bench.server, bench.folder.file(name))
      onTestFinished(close)
      const again = await queueJob({ ...order, group: 'in' }, context)
      expect(again.created).toBe(true)
      work({}, { ...context, cache })
      return until(async () => {
        const { status } = (await context.jobs.get(again.job.id)) ?? {}
        return status !== 'queued' && status !== 'working' && status
      })
    }
    expect(await withLedger('second-state')).toBe('skipped')
    expect(bench.server.calls.registerFile).toBe(calls)

    // A killed attempt published the output, and the input is gone since.
    for (const path of [receipt, job.input]) await rm(path)
    await bench.pipeline.context.jobs.requeue(job.id)
    worker.wake()
    await ended(job, 'done')
    expect(await readReceipt(receipt)).toMatchObject({ job: job.id })

    // The cache still has the voice.
    await rm(bench.folder.file('out'), { recursive: true })
    await bench.take('speech.wav')
    expect(await withLedger('third-state')).toBe('done')
    expect(bench.server.charges).toBe(1)
  })
})
