import { readdir, readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { resolveConfig } from '../../src/config/index.js'
import { JobFailedError } from '../../src/core/errors.js'
import { openPipeline } from '../../src/pipeline/job/open-pipeline.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { runJobs } from '../../src/pipeline/job/run-jobs.js'
import { StageQueue } from '../../src/pipeline/stage-slots.js'
import { decodedPcm, fixture, jobBench } from '../helpers/job-bench.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()
const IN_PROGRESS = [{ status: 'InProgress', errorCode: 0, progress: 50 }] as const
const FAILED = { status: 'Failed', errorCode: -1, progress: 0 } as const
const SUCCEEDED = [{ status: 'Succeeded', errorCode: 0, progress: 100 }] as const
/** The time has run out before anything was begun. */
const submitOnly = { waitUntilMs: 0 }

describe('a job that is only submitted', () => {
  it('leaves as pending without asking once, and the same job again collects it for one payment', async () => {
    const input = await bench.take('speech.wav')
    bench.server.behaviour.states = SUCCEEDED
    const submitted = await runJob(requestFor(input), bench.pipeline.context, submitOnly)
    expect(submitted.event).toMatchObject({ status: 'pending', output: null, error: { code: 'ERR_STILL_RUNNING' } })
    expect(submitted.error?.exitCode).toBe(3)
    expect(bench.server.calls).toMatchObject({ startProcess: 1, getFilesStatus: 0, download: 0 })
    expect(await bench.pipeline.context.jobs.get(submitted.event.id)).toMatchObject({ status: 'waiting-remote' })
    expect(await readdir(bench.folder.file('state/work'))).toEqual([])

    const collected = await runJob(requestFor(input), bench.pipeline.context, submitOnly)
    expect(collected.event).toMatchObject({ id: submitted.event.id, status: 'done' })
    expect(bench.server.charges).toBe(1)
    expect(bench.server.calls).toMatchObject({ registerFile: 1, upload: 1, startProcess: 1, getFilesStatus: 1 })
  })

  it('asks once where it was submitted before, and leaves where it still runs', async () => {
    const input = await bench.take('speech.wav')
    bench.server.behaviour.states = IN_PROGRESS
    await runJob(requestFor(input), bench.pipeline.context, submitOnly)
    const again = await runJob(requestFor(input), bench.pipeline.context, submitOnly)
    expect(again.event.status).toBe('pending')
    expect(bench.server.calls).toMatchObject({ startProcess: 1, getFilesStatus: 1 })
  })

  it('leaves although the service says Failed and InProgress by turns', async () => {
    const input = await bench.take('speech.wav')
    let asked = 0
    bench.server.behaviour.states = () => [asked++ % 2 === 0 ? FAILED : IN_PROGRESS[0]]
    await runJob(requestFor(input), bench.pipeline.context, submitOnly)
    const again = await runJob(requestFor(input), bench.pipeline.context, submitOnly)
    expect(again.event).toMatchObject({ status: 'pending', error: { code: 'ERR_STILL_RUNNING' } })
    expect(bench.server.calls).toMatchObject({ startProcess: 1, getFilesStatus: 2 })
  })

  it('has all parts of a long file started before it leaves, and lays each in its place', async () => {
    const input = await bench.take('surround.wav')
    const request = () => requestFor(input, { recipe: { channels: 'each' } })
    expect((await runJob(request(), bench.pipeline.context, submitOnly)).event.status).toBe('pending')
    const { startProcess } = bench.server.calls
    expect(startProcess).toBeGreaterThan(bench.pipeline.context.voiceConcurrency)
    const { event } = await runJob(request(), bench.pipeline.context)
    expect(event.status).toBe('done')
    expect(bench.server.charges).toBe(startProcess)
    expect((await decodedPcm(event.output ?? '')).equals(await decodedPcm(input))).toBe(true)
  })

  it('stays with the embedded service where an earlier process submitted it: nobody else would do the rest', async () => {
    const input = await bench.take('speech.wav')
    const context = { ...bench.pipeline.context, isEmbedded: true }
    expect((await runJob(requestFor(input), context, submitOnly)).event.status).toBe('pending')
    expect((await runJob(requestFor(input), context, submitOnly)).event.status).toBe('done')
    expect(bench.server.charges).toBe(1)
  })

  it('leaves a job to the other one that works on it', async () => {
    const input = await bench.take('speech.wav')
    bench.server.behaviour.states = IN_PROGRESS
    const giveUp = new AbortController()
    const first = runJob(requestFor(input), bench.pipeline.context, {
      signal: giveUp.signal,
      onEvent: (event) => {
        if (event.event === 'progress' && event.stage === 'process') void second()
      },
    })
    let outcome: Promise<unknown> | undefined
    const second = () => {
      outcome ??= runJob(requestFor(input), bench.pipeline.context, submitOnly).finally(() => giveUp.abort())
      return outcome
    }
    await first
    expect(await outcome).toMatchObject({ event: { status: 'pending', error: { code: 'ERR_STILL_RUNNING' } } })
    expect(bench.server.charges).toBe(1)
  })
})

describe('a job that waits for a while', () => {
  it('leaves when the time is over, having sent everything', async () => {
    const input = await bench.take('speech.wav')
    bench.server.behaviour.states = IN_PROGRESS
    const outcome = await runJob(requestFor(input), bench.pipeline.context, { waitUntilMs: Date.now() + 1500 })
    expect(outcome.error?.exitCode).toBe(3)
    expect(bench.server.calls).toMatchObject({ startProcess: 1, download: 0 })
  })

  it('is done where the service is quick enough', async () => {
    const input = await bench.take('speech.wav')
    const outcome = await runJob(requestFor(input), bench.pipeline.context, { waitUntilMs: Date.now() + 3_600_000 })
    expect(outcome.event.status).toBe('done')
  })

  it('waits on while the embedded service stays at one status, because that sleeps when the computer does', async () => {
    const { folder, server } = bench
    const input = await bench.take('speech.wav')
    server.behaviour.states = [...Array.from({ length: 20 }, () => IN_PROGRESS[0]), ...SUCCEEDED]
    const config = await resolveConfig({ cwd: folder.path, env: { VOXMUX_STATE_DIR: folder.file('embedded') } })
    const startEmbedded = async () => ({
      ...{ access: server.clientOptions, onFileEnd: () => {}, onDiskFault: () => {} },
      close: async () => {},
    })
    const client = { polling: { minMs: 2, maxMs: 2, unchangedMs: 1 } }
    const pipeline = await openPipeline(config, { startEmbedded, client })
    onTestFinished(() => pipeline.close())
    const { event } = await runJob(requestFor(input), pipeline.context)
    expect(event).toMatchObject({ status: 'done', error: null })
  })
})

describe('local work', () => {
  it('is done by a few at once, whatever the number of jobs', async () => {
    let [now, most] = [0, 0]
    const work = async () => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setImmediate(resolve))
      now--
    }
    const slots = new StageQueue(3)
    await Promise.all(Array.from({ length: 100 }, () => slots.run(work)))
    expect(most).toBe(3)
  })

  it('that was interrupted is over before anybody hears of it', async () => {
    const giveUp = new AbortController()
    let isOver = false
    const work = new StageQueue(1).run(async () => {
      giveUp.abort(new JobFailedError('ERR_TEST', 'given up'))
      await new Promise((resolve) => setTimeout(resolve, 20))
      isOver = true
    }, giveUp.signal)
    await expect(work).rejects.toThrow('given up')
    expect(isOver).toBe(true)
  })

  // In short it is a worker that does, in stage-slots.test.ts.
  it.runIf(process.env.VOXMUX_SOAK)(
    'lets many jobs be at the service while few are cut (only in the soak)',
    async () => {
      const inputs = await Promise.all(Array.from({ length: 6 }, (_, index) => otherVoice(index)))

      bench.server.behaviour.states = () => (bench.server.calls.startProcess === 6 ? SUCCEEDED : IN_PROGRESS)
      const requests = inputs.map((input) => requestFor(input))
      const outcomes = await runJobs(requests, bench.pipeline.context, { concurrency: 6 })
      expect(outcomes.map(({ event }) => event.status)).toEqual(inputs.map(() => 'done'))
    },
  )
})

/** The first second of the speech with a sample of its own, so that it is a voice of its own. */
async function otherVoice(index: number): Promise<string> {
  const dataBytes = 96_000
  const bytes = (await readFile(fixture('speech.wav'))).subarray(0, 44 + dataBytes)
  bytes.writeUInt32LE(36 + dataBytes, 4)
  bytes.writeUInt32LE(dataBytes, 40)
  bytes.writeInt16LE(index + 1, bytes.length - 200)
  const path = bench.folder.file(`take-${index}.wav`)
  await writeFile(path, bytes)
  return path
}
