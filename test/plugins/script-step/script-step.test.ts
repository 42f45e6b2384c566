import { describe, expect, expectTypeOf, it, vi } from 'vitest'
import { AccessError, PrecheckError, silentLogger, UsageError } from 'voxmux'
import { type FinishedStep, type StepOptions, type StepResult, scriptStep } from 'voxmux/step'
import { stepBench } from './step-bench.js'

const bench = stepBench()
const SUCCEEDED = [{ status: 'Succeeded', errorCode: 0, progress: 100 }] as const
const fail = () => {
  throw new Error('mine')
}
const IN_PROGRESS = [{ status: 'InProgress', errorCode: 0, progress: 50 }] as const

describe('a script step', () => {
  it('resolves to its output and receipt, and to skipped when it is said again', async () => {
    await bench.voice(0, 'speech.wav')
    const stages: string[] = []
    const step = await scriptStep(
      { input: 'speech.wav', output: 'out/' },
      { ...bench.options, onProgress: ({ stage, percent }) => stages.push(`${stage} ${percent}`) },
    )
    expect(step).toEqual({
      id: expect.stringMatching(/^\w{26}$/),
      input: bench.folder.file('speech.wav'),
      status: 'done',
      output: bench.folder.file('out/speech.regen.wav'),
      receipt: bench.folder.file('out/speech.regen.wav.voxmux.json'),
      error: null,
    })
    expect(stages).toEqual(expect.arrayContaining(['probe 100', 'process 100', 'publish 100']))
    const again = await scriptStep({ input: 'speech.wav', output: 'out/' }, bench.options)
    expect(again).toEqual({ ...step, status: 'skipped' })
    // Its own output as the next input, as a script over all files of a folder names it.
    const own = await scriptStep({ input: 'out/speech.regen.wav' }, bench.options)
    const output = bench.folder.file('out/speech.regen.wav')
    expect(own).toMatchObject({ status: 'skipped', input: output, output, error: null })
    expect(bench.server.charges).toBe(1)
  })

  it.each([
    ['a wrong key', { input: 'speech.wav', trak: 1 }, UsageError, 'ERR_JOB_REQUEST', /did you mean "track"/],
    ['a wrong segment', { input: 'speech.wav', segments: [{ from: 1 }] }, UsageError, 'ERR_JOB_REQUEST', /startSec/],
    ['no preset', { input: 'speech.wav', preset: 'podcsat' }, UsageError, 'ERR_PRESET_UNKNOWN', /podcast/],
    ['no such file', { input: 'none.wav' }, UsageError, 'ERR_INPUT_MISSING', /none\.wav/],
    ['several tracks', { input: 'two-tracks.mkv' }, PrecheckError, 'ERR_SEVERAL_TRACKS', /track/],
  ])('throws a typed error for %s', async (_what, job, kind, code, message) => {
    await bench.voice(0, 'speech.wav')
    await bench.take('two-tracks.mkv')
    const error = await scriptStep(job as { input: string }, bench.options).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(kind)
    expect(error).toMatchObject({
      code,
      message: expect.stringMatching(message),
    })
    expect(bench.server.charges).toBe(0)
  })

  it('throws an AccessError for wrong credentials, which are not in it', async () => {
    await bench.voice(0, 'speech.wav')
    const env = { ...bench.options.env, VOXMUX_CLIENT_SECRET: 'not-this-one' }
    const error = await scriptStep({ input: 'speech.wav' }, { ...bench.options, env }).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(AccessError)
    expect(JSON.stringify(error) + String(error)).not.toContain('not-this-one')
  })

  it('ends when its signal fires, and the same step attaches', async () => {
    await bench.voice(0, 'speech.wav')
    bench.server.behaviour.states = IN_PROGRESS
    const giveUp = new AbortController()
    const onProgress = ({ stage }: { stage: string }) => stage === 'process' && giveUp.abort()
    const step = scriptStep({ input: 'speech.wav' }, { ...bench.options, signal: giveUp.signal, onProgress })
    await expect(step).rejects.toMatchObject({ code: 'ERR_INTERRUPTED', exitCode: 130 })
    bench.server.behaviour.states = SUCCEEDED
    expect((await scriptStep({ input: 'speech.wav' }, bench.options)).status).toBe('done')
    expect(bench.server.charges).toBe(1)
  })

  it('is submitted with waitSec 0, and collected by the same step', async () => {
    await bench.voice(0, 'speech.wav')
    bench.server.behaviour.states = SUCCEEDED
    const submitted = await scriptStep({ input: 'speech.wav' }, { ...bench.options, waitSec: 0 })
    expect(submitted).toMatchObject({ status: 'pending', output: null, error: { code: 'ERR_STILL_RUNNING' } })
    expect(bench.server.calls).toMatchObject({ startProcess: 1, getFilesStatus: 0 })
    expect(await scriptStep({ input: 'speech.wav' }, { ...bench.options, waitSec: 0 })).toMatchObject({
      status: 'done',
    })
    expect(bench.server.charges).toBe(1)
  })

  it('is not harmed by a listener that throws or that is async and rejects, and never writes to stdout', async () => {
    await bench.voice(0, 'speech.wav')
    const write = vi.spyOn(process.stdout, 'write')
    const [warnings, told]: [string[], string[]] = [[], []]
    const logger = { ...silentLogger, warn: (_: object, message: string) => void warnings.push(message) }
    const listeners = [() => fail(), async () => fail()]
    const onProgress = ({ stage }: { stage: string }) => listeners[told.push(stage) % 2]?.()
    const { status } = await scriptStep({ input: 'speech.wav' }, { ...bench.options, onProgress, logger })
    expect(write).not.toHaveBeenCalled()
    write.mockRestore()
    expect(status).toBe('done')
    expect(warnings).toEqual(told.map(() => 'The onProgress listener of a step failed.'))
  })

  it.each<[string, object]>([
    ['must be an object', [] as object],
    ['has no option "waitsec"', { waitsec: 0 }],
    ['has no option "onEvent"', { onEvent: () => {} }],
    ['"waitSec" of a step must be seconds from 0', { waitSec: Number.NaN }],
    ['"signal" of a step must be an AbortSignal', { signal: new AbortController() }],
    ['"onProgress" of a step must be a function', { onProgress: 'x' }],
    ['"logger" of a step must be an object with', { logger: {} }],
    ['"cwd" of a step must be the path', { cwd: 5 }],
    ['"env" of a step must be an object', { env: null }],
  ])('says in plain JavaScript that what it was given %s', async (message, options) => {
    await expect(scriptStep({ input: '/a.mov' }, options as StepOptions)).rejects.toMatchObject({
      code: 'ERR_STEP_OPTION',
      exitCode: 2,
      message: expect.stringContaining(message),
    })
  })

  it('knows by its types that only waitSec makes it pending', () => {
    const job = { input: 'a.wav', segments: [{ startSec: 1 }], track: 'lang:eng', channels: 'center' } as const
    expectTypeOf(() => scriptStep(job)).returns.resolves.toEqualTypeOf<FinishedStep>()
    expectTypeOf(() => scriptStep(job, { waitSec: 5 })).returns.resolves.toEqualTypeOf<StepResult>()
  })
})

describe('many script steps at once', () => {
  it('share one token and one status watcher, which asks for all of them together', async () => {
    const count = 4
    const jobs = await Promise.all(
      Array.from({ length: count }, async (_, index) => ({ input: await bench.voice(index), output: `${index}.wav` })),
    )
    // Nothing is ready before all are there: so it shows how many are asked for at once.
    let before: number | undefined
    bench.server.behaviour.states = () => {
      if (bench.server.calls.startProcess < count) return IN_PROGRESS
      before ??= bench.server.requestsOf('getFilesStatus').length - 1
      return SUCCEEDED
    }
    const steps = await Promise.all(
      jobs.map((job) => scriptStep(job, { ...bench.options, settings: { verify: 'fast' } })),
    )
    expect(steps.map(({ status }) => status)).toEqual(jobs.map(() => 'done'))
    expect(bench.server.calls).toMatchObject({ token: 1, startProcess: count })
    expect(bench.server.charges).toBe(count)
    const batches = bench.server.requestsOf('getFilesStatus').map(({ body }) => (body as { fileIds: string[] }).fileIds)
    expect(Math.max(...batches.map((ids) => ids.length))).toBeGreaterThan(count / 2)
    // When all are at the service, a round is one request: far fewer than one a file.
    expect(batches.slice(before).length).toBeLessThan(count)
  })

  it('that are the same are one job, paid for once', async () => {
    await bench.voice(0, 'speech.wav')
    const steps = await Promise.all([1, 2, 3].map(() => scriptStep({ input: 'speech.wav' }, bench.options)))
    expect(steps.map(({ status }) => status).sort()).toEqual(['done', 'skipped', 'skipped'])
    expect(new Set(steps.map(({ id }) => id)).size).toBe(1)
    expect(bench.server.charges).toBe(1)
  })
})
