import { renameSync, rmSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { DEFAULT_RECIPE } from '../../src/config/preset-schema.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { decodedPcm, jobBench } from '../helpers/job-bench.js'
import { ffmpeg } from '../helpers/media-factory.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()

describe('a service in trouble', () => {
  it.each([
    // `voice/odd-answers.test.ts` has a row for every operation and fault; these go through the media as well.
    ['upload', { kind: 'reset' }],
    ['startProcess', { kind: 'reset-after' }],
    ['download', { kind: 'truncated' }],
    ['download', { kind: 'answer', body: 'useless' }],
  ] as const)('%s answering %j is come through, and paid once', async (operation, fault) => {
    const input = await bench.take('speech.wav')
    bench.server.fail(operation, fault)
    const outcome = await runJob(requestFor(input), bench.pipeline.context)
    expect(outcome.event).toMatchObject({ status: 'done', error: null })
    expect(bench.server.charges).toBe(1)
    expect((await decodedPcm(bench.folder.file('speech.regen.wav'))).equals(await decodedPcm(input))).toBe(true)
  })

  it.each([
    ['registerFile', { kind: 'status', status: 403 }, 'ERR_ACCESS_DENIED', 6],
    ['getFilesStatus', { kind: 'status', status: 503 }, 'ERR_SERVICE_BUSY', 4],
  ] as const)('%s answering %j for good ends with %s', async (operation, fault, code, exitCode) => {
    const input = await bench.take('speech.wav')
    bench.server.fail(operation, fault, Number.POSITIVE_INFINITY)
    const outcome = await runJob(requestFor(input), bench.pipeline.context)
    expect(outcome.error).toMatchObject({ code, exitCode })
    expect(await readdir(bench.folder.path)).not.toContain('speech.regen.wav')
  })

  it('ends a file that the service refuses with its code', async () => {
    const input = await bench.take('speech.wav')
    bench.server.behaviour.states = [{ status: 'Failed', errorCode: -3, progress: 10 }]
    const outcome = await runJob(requestFor(input), bench.pipeline.context)
    expect(outcome.event).toMatchObject({ status: 'failed', error: { errorCode: -3, name: 'NotEnoughVoice' } })
    expect(outcome.error?.exitCode).toBe(1)
  })

  it('is interrupted without a trace', async () => {
    const input = await bench.take('speech.wav')
    bench.server.behaviour.states = [{ status: 'InProgress', errorCode: 0, progress: 10 }]
    const controller = new AbortController()
    const outcome = await runJob(requestFor(input), bench.pipeline.context, {
      signal: controller.signal,
      onEvent: (event) => {
        if (event.event === 'progress' && event.stage === 'process') controller.abort()
      },
    })
    expect(outcome.event.status).toBe('pending')
    expect(outcome.error?.exitCode).toBe(130)
    expect((await readdir(bench.folder.path)).filter((name) => name !== 'state')).toEqual(['speech.wav'])
  })

  it('attaches to what an interrupted run began', async () => {
    const input = await bench.take('speech.wav')
    const states = bench.server.behaviour.states
    bench.server.behaviour.states = [{ status: 'InProgress', errorCode: 0, progress: 10 }]
    const controller = new AbortController()
    await runJob(requestFor(input), bench.pipeline.context, {
      signal: controller.signal,
      onEvent: (event) => event.event === 'progress' && event.stage === 'process' && controller.abort(),
    })
    bench.server.behaviour.states = states
    const outcome = await runJob(requestFor(input), bench.pipeline.context)
    expect(outcome.event.status).toBe('done')
    expect(bench.server.calls.startProcess).toBe(1)
    expect(bench.server.calls.registerFile).toBe(1)
  })
})

describe('a place that changes while the service works', () => {
  it.each([
    ['another file takes the input’s name', 'mv', 'ERR_INPUT_CHANGED', 1],
    ['the input is removed', 'rm', 'ERR_INPUT_MISSING', 2],
    ['the output folder is removed', 'rmdir', 'ERR_STORAGE_AWAY', 4],
  ] as const)('%s', async (_, what, code, exitCode) => {
    const input = await bench.take('speech.wav')
    const other = bench.folder.file('other.wav')
    await ffmpeg('-i', input, '-af', 'areverse', other)
    const folder = bench.folder.file('out')
    await mkdir(folder)
    let isDone = false
    const outcome = await runJob(requestFor(input, { output: `${folder}/a.wav` }), bench.pipeline.context, {
      onEvent: (event) => {
        if (isDone || event.event !== 'progress' || event.stage !== 'process') return
        isDone = true
        if (what === 'mv') renameSync(other, input)
        else rmSync(what === 'rm' ? input : folder, { recursive: true })
      },
    })
    expect(outcome.error).toMatchObject({ code, exitCode })
    expect(await readdir(folder).catch(() => [])).toEqual([])
    expect(bench.server.charges).toBe(1)
  })
})

describe('a preset that requires a voice', () => {
  const wantingVoice = (input: string) =>
    requestFor(input, { recipe: { voice: { ...DEFAULT_RECIPE.voice, requireVoice: true } } })

  it('refuses silence before anything is sent', async () => {
    const outcome = await runJob(wantingVoice(await bench.take('silence.wav')), bench.pipeline.context)
    expect(outcome.error).toMatchObject({ errorCode: -3, exitCode: 5 })
    expect(bench.server.calls.registerFile).toBe(0)
  })

  it('is implied by the embedded service, but not by another', async () => {
    const request = requestFor(await bench.take('silence.wav'))
    const { context } = bench.pipeline
    const { error } = await runJob(request, { ...context, isEmbedded: true })
    expect(error).toMatchObject({ errorCode: -3, exitCode: 5 })
    expect(bench.server.calls.registerFile).toBe(0)
    expect((await runJob(request, context)).event.status).toBe('done')
  })

  it('lets speech through', async () => {
    const request = wantingVoice(await bench.take('speech.wav'))
    expect((await runJob(request, bench.pipeline.context)).event.status).toBe('done')
  })
})

describe('a refusal of the service', () => {
  it('is remembered with what caused it, and the next file like it gets a warning', async () => {
    const input = await bench.take('speech.wav')
    const warnings: string[] = []
    const logger = {
      ...bench.pipeline.context.logger,
      warn: (_fields: object, message: string) => warnings.push(message),
    }
    const context = { ...bench.pipeline.context, logger }
    const { states } = bench.server.behaviour
    bench.server.behaviour.states = [{ status: 'Failed', errorCode: -15, progress: 0 }]
    await runJob(requestFor(input), context)
    expect(warnings).toEqual([])
    bench.server.behaviour.states = states
    expect((await runJob(requestFor(input), context)).event.status).toBe('done')
    expect(warnings).toEqual([expect.stringContaining('DurationTooLong (-15), at durationSec 3')])
    // It was taken after all: nobody is warned again.
    await runJob(requestFor(input, { output: bench.folder.file('again.wav') }), context)
    expect(warnings).toHaveLength(1)
  })
})
