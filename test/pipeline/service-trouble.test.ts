import { renameSync, rmSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { DEFAULT_RECIPE } from '../../src/config/preset-schema.js'
import { findFfmpeg, forgetBinaries } from '../../src/media/index.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { decodedPcm, jobBench } from '../helpers/job-bench.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()

afterEach(() => {
  vi.unstubAllEnvs()
  forgetBinaries()
})

describe('a service in trouble', () => {
  it('is come through, whatever it does on the way, and paid once', async () => {
    const input = await bench.take('speech.wav')
    // `voice/odd-answers.test.ts` has a row for every operation and fault; these go through the media as well.
    bench.server.fail('upload', { kind: 'reset' })
    bench.server.fail('startProcess', { kind: 'reset-after' })
    bench.server.fail('download', { kind: 'truncated' })
    bench.server.fail('download', { kind: 'answer', body: 'useless' })
    const outcome = await runJob(requestFor(input), bench.pipeline.context)
    expect(outcome.event).toMatchObject({ status: 'done', error: null })
    expect(bench.server.charges).toBe(1)
    expect(bench.server.calls).toMatchObject({ upload: 2, startProcess: expect.any(Number), download: 3 })
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

  it('is not blamed, nor paid again, for an ffmpeg that decodes nothing', async () => {
    const input = await bench.take('speech.wav')
    const { path } = await findFfmpeg()
    const [script, cause] = [bench.folder.file('ffmpeg'), 'pthread_create failed: Resource temporarily unavailable']
    const fails = `case "$*" in *.flac.pcm) echo '${cause}' >&2; exit 1;; esac`
    await writeFile(script, `#!/bin/sh\n${fails}\nexec '${path}' "$@"\n`, { mode: 0o755 })
    vi.stubEnv('VOXMUX_FFMPEG', script)
    forgetBinaries()
    const outcome = await runJob(requestFor(input), bench.pipeline.context)
    expect(outcome.error).toMatchObject({ code: 'ERR_DECODER_FAILS', exitCode: 4 })
    expect(String(outcome.error?.cause)).toContain(cause)
    vi.unstubAllEnvs()
    forgetBinaries()
    expect((await runJob(requestFor(input), bench.pipeline.context)).event).toMatchObject({
      status: 'done',
      error: null,
    })
    expect(bench.server.charges).toBe(1)
  })

  it('ends a file that the service refuses with its code', async () => {
    const input = await bench.take('speech.wav')
    bench.server.behaviour.states = [{ status: 'Failed', errorCode: -3, progress: 10 }]
    const outcome = await runJob(requestFor(input), bench.pipeline.context)
    expect(outcome.event).toMatchObject({ status: 'failed', error: { errorCode: -3, name: 'NotEnoughVoice' } })
    expect(outcome.error?.exitCode).toBe(1)
  })

  it('is interrupted without a trace, and the next run attaches to what was begun', async () => {
    const input = await bench.take('speech.wav')
    const { states } = bench.server.behaviour
    bench.server.behaviour.states = [{ status: 'InProgress', errorCode: 0, progress: 10 }]
    const controller = new AbortController()
    const interrupted = await runJob(requestFor(input), bench.pipeline.context, {
      signal: controller.signal,
      onEvent: (event) => event.event === 'progress' && event.stage === 'process' && controller.abort(),
    })
    expect(interrupted.event.status).toBe('pending')
    expect(interrupted.error?.exitCode).toBe(130)
    expect((await readdir(bench.folder.path)).filter((name) => name !== 'state')).toEqual(['speech.wav'])
    bench.server.behaviour.states = states
    const outcome = await runJob(requestFor(input), bench.pipeline.context)
    expect(outcome.event.status).toBe('done')
    expect(bench.server.calls.startProcess).toBe(1)
    expect(bench.server.calls.registerFile).toBe(1)
  })
})

describe('a place that changes while the service works', () => {
  it.each([
    ['another file takes the input’s name', 'mv', 'ERR_INPUT_CHANGED', 1, 'changed while voxmux'],
    ['the input is removed', 'rm', 'ERR_INPUT_MISSING', 2, 'was moved or deleted before voxmux had finished'],
    ['the output folder is removed', 'rmdir', 'ERR_STORAGE_AWAY', 4, 'out'],
  ] as const)('%s', async (_, what, code, exitCode, words) => {
    const input = await bench.take('speech.wav')
    const other = await bench.take('silence.wav')
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
    expect(outcome.error).toMatchObject({ code, exitCode, message: expect.stringContaining(words) })
    expect(await readdir(folder).catch(() => [])).toEqual([])
    expect(bench.server.charges).toBe(1)
  })
})

it.each(['plan', 'cut', 'upload'])(
  'is not paid for if another file takes the input’s name after stage %s',
  async (stage) => {
    const input = await bench.take('speech.wav')
    const other = await bench.take('silence.wav')
    let isDone = false
    const outcome = await runJob(requestFor(input), bench.pipeline.context, {
      onEvent: (event) => {
        if (isDone || event.event !== 'progress' || event.stage !== stage || event.percent < 100) return
        isDone = true
        renameSync(other, input)
      },
    })
    expect(outcome.error).toMatchObject({ code: 'ERR_INPUT_CHANGED', exitCode: 1 })
    expect(bench.server.charges).toBe(0)
    expect(await bench.pipeline.context.spending.spent()).toMatchObject({ committedSec: 0, reservedSec: 0 })
  },
)

describe('a preset that requires a voice', () => {
  const wantingVoice = (input: string) =>
    requestFor(input, { recipe: { voice: { ...DEFAULT_RECIPE.voice, requireVoice: true } } })

  it('refuses silence before anything is sent, as the embedded service does, and another does not', async () => {
    const input = await bench.take('silence.wav')
    const { context } = bench.pipeline
    const embedded = { ...context, isEmbedded: true }
    for (const [request, around] of [
      [wantingVoice(input), context],
      [requestFor(input), embedded],
    ] as const) {
      expect((await runJob(request, around)).error).toMatchObject({ errorCode: -3, exitCode: 5 })
    }
    expect(bench.server.calls.registerFile).toBe(0)
    expect((await runJob(requestFor(input), context)).event.status).toBe('done')
  })

  it('lets speech through to the service', async () => {
    bench.server.behaviour.states = [{ status: 'Failed', errorCode: -15, progress: 0 }]
    const { error } = await runJob(wantingVoice(await bench.take('speech.wav')), bench.pipeline.context)
    expect(error).toMatchObject({ errorCode: -15 })
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
