import { readdir, readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { scriptStep } from 'voxmux/step'
import { z } from 'zod'
import { runCliInProcess } from '../../helpers/command-in-process.js'
import { eventsOf, runCli, startCli } from '../../helpers/voxmux-cli.js'
import { stepBench } from './step-bench.js'

const bench = stepBench()
const SUCCEEDED = [{ status: 'Succeeded', errorCode: 0, progress: 100 }] as const
const IN_PROGRESS = [{ status: 'InProgress', errorCode: 0, progress: 50 }] as const

async function step(jobs: unknown, flags: readonly string[] = [], run = runCliInProcess) {
  const path = bench.folder.file('job.json')
  await writeFile(path, typeof jobs === 'string' ? jobs : JSON.stringify(jobs))
  const result = await run(['step', 'job.json', ...flags], bench.options)
  const events = eventsOf(result)
  return { ...result, events, last: events.at(-1) ?? { event: 'none' } }
}

// Some tests start the command twice, on a machine that has other tests to run.
describe('voxmux step', { timeout: 180_000 }, () => {
  it('speaks NDJSON without being asked, ends with status, output and receipt, and skips what is done', async () => {
    await bench.voice(0, 'speech.wav')
    const { exitCode, events, last } = await step({ input: 'speech.wav', preset: 'podcast' }, [], runCli)
    expect(exitCode).toBe(0)
    expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(['progress', 'file', 'result']))
    expect(last).toMatchObject({
      event: 'result',
      exitCode: 0,
      status: 'done',
      output: bench.folder.file('speech.regen.wav'),
      receipt: bench.folder.file('speech.regen.wav.voxmux.json'),
    })
    expect((await step({ input: 'speech.wav', preset: 'podcast' })).last).toMatchObject({
      exitCode: 0,
      status: 'skipped',
    })
    expect(bench.server.charges).toBe(1)
  })

  it('says on the last line why a job failed, too', async () => {
    await bench.take('no-audio.mp4')
    const { exitCode, last, events } = await step({ input: 'no-audio.mp4' })
    expect(exitCode).toBe(5)
    expect(last).toMatchObject({ status: 'rejected', output: null, error: { code: expect.stringMatching(/^ERR_/) } })
    expect(last.error).toEqual(events.find(({ event }) => event === 'file')?.error)
  })

  it('names keys of the job in place of flags', async () => {
    const input = await bench.voice(0, 'speech.wav')
    await writeFile(bench.folder.file('speech.regen.wav'), 'mine')
    const remedies = ['Choose another name with `output`, or replace the file with `force`.']
    const { last, events } = await step({ input })
    expect(last).toMatchObject({ exitCode: 2, error: { code: 'ERR_OUTPUT_EXISTS', remedies } })
    expect(events.find(({ event }) => event === 'file')).toMatchObject({ error: { remedies } })
    await expect(scriptStep({ input }, bench.options)).rejects.toMatchObject({ remedies })
    const over = await step([{ input, output: bench.folder.file('next.wav'), force: true }, { input: 'next.wav' }])
    expect(over.last).toMatchObject({
      error: {
        code: 'ERR_OUTPUT_IS_INPUT',
        remedies: ['Leave next.wav out of the list, or name another output with `output`.'],
      },
    })
    await bench.take('surround.wav')
    const { remedies: values } = (await step({ input: 'surround.wav' })).last.error as { remedies: readonly string[] }
    expect(values[0]).toContain('Use `"channels": "center"` to regenerate')
    const run = await runCliInProcess(['run', input], bench.options)
    expect(run.stderr).toContain('Choose another name with --output, or replace the file with --force.\n')
  })

  it('submits with --wait 0 and exit 3, and collects with the same command', async () => {
    const jobs = [{ input: await bench.voice(0) }, { input: await bench.voice(1) }]
    bench.server.behaviour.states = IN_PROGRESS
    const submitted = await step(jobs, ['--wait', '0'], runCli)
    expect(submitted.last).toMatchObject({ exitCode: 3, pending: 2 })
    expect(bench.server.calls).toMatchObject({ startProcess: 2, getFilesStatus: 0 })
    expect((await step(jobs, ['--wait', '0'])).last).toMatchObject({ exitCode: 3, pending: 2 })
    bench.server.behaviour.states = SUCCEEDED
    expect((await step(jobs, ['--wait', '0'])).last).toMatchObject({ exitCode: 0, done: 2 })
    expect(bench.server.charges).toBe(2)
  })

  it('submits to the service that it carries too, and the same command does the work for one payment', async () => {
    await bench.voice(0, 'speech.wav')
    await writeFile(bench.folder.file('job.json'), '{"input":"speech.wav"}')
    const alone = { cwd: bench.folder.path, env: { VOXMUX_STATE_DIR: bench.folder.file('state') } }
    const submitted = await runCli(['step', 'job.json', '--wait', '0'], alone)
    expect(submitted).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('No service is configured') })
    const collected = await runCli(['step', 'job.json', '--wait', '0'], alone)
    expect(eventsOf(collected).at(-1)).toMatchObject({ exitCode: 0, status: 'done', error: null })
    const { voices } = JSON.parse(await readFile(bench.folder.file('speech.regen.wav.voxmux.json'), 'utf8'))
    // Paid by the first; the second only fetched it.
    expect(voices).toMatchObject([{ paidSec: 0 }])
  })

  it.each<[string, unknown, string, RegExp]>([
    ['no JSON', '{"input":', 'ERR_JOB_REQUEST', /The job in .*job\.json cannot be read/],
    ['nothing', '', 'ERR_JOB_REQUEST', /it is empty/],
    ['no job', 7, 'ERR_JOB_REQUEST', /must be an object/],
    ['no jobs', [], 'ERR_JOB_REQUEST', /list of jobs is empty/],
    ['a wrong key', { input: 'speech.wav', presett: 'podcast' }, 'ERR_JOB_REQUEST', /did you mean "preset"\?/],
    ['a wrong value', { input: 'speech.wav', channels: 'left' }, 'ERR_JOB_REQUEST', /"channels" must be one of/],
    ['one bad of two', [{ input: 'speech.wav' }, { output: 'x' }], 'ERR_JOB_REQUEST', /Job 2 of 2: "input" is missing/],
    ['one unknown preset', [{ input: 'speech.wav' }, { input: 'b.wav', preset: 'x' }], 'ERR_PRESET_UNKNOWN', /"x"/],
    [
      'one output for two',
      [
        { input: 'speech.wav', output: 'out/' },
        { input: 'more/speech.wav', output: 'out/' },
      ],
      'ERR_OUTPUT_SHARED',
      /speech\.wav and .*more\/speech\.wav have the same output: .*out\/speech\.regen\.wav/,
    ],
    [
      'one output for two of the same type',
      [
        { input: 'speech.wav', outputType: 'flac' },
        { input: 'speech.mp3', outputType: 'flac' },
      ],
      'ERR_OUTPUT_SHARED',
      /have the same output: .*speech\.regen\.flac/,
    ],
  ])('begins nothing where it is given %s', async (_what, jobs, code, message) => {
    await bench.voice(0, 'speech.wav')
    const { exitCode, events } = await step(jobs)
    expect(exitCode).toBe(2)
    expect(events).toEqual([
      expect.objectContaining({ event: 'result', exitCode: 2, error: expect.objectContaining({ code }) }),
    ])
    expect(events[0]).toMatchObject({ error: { message: expect.stringMatching(message) } })
    expect(bench.server.calls.registerFile).toBe(0)
    expect(await readdir(bench.folder.path)).not.toContain('out')
  })

  it('reads stdin, and says so where that is closed', async () => {
    const closed = await runCli(['step', '-'], bench.options)
    expect(eventsOf(closed)).toMatchObject([{ event: 'result', exitCode: 2, error: { code: 'ERR_JOB_REQUEST' } }])
    const none = await runCliInProcess(['step', 'none.json'], bench.options)
    expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('does not exist') })
    expect(none.stderr).toContain('  → To give the job itself, write it to stdin of `voxmux step -`.\n')
  })

  it('refuses a --wait that is no time', async () => {
    expect(await step({ input: 'a.wav' }, ['--wait', '-3'])).toMatchObject({ exitCode: 2 })
    expect(await step({ input: 'a.wav' }, ['--wait', 'long'])).toMatchObject({ exitCode: 2 })
  })

  it('ends with a result on Ctrl-C too', async () => {
    await bench.voice(0, 'speech.wav')
    bench.server.behaviour.states = IN_PROGRESS
    await writeFile(bench.folder.file('job.json'), '{"input":"speech.wav"}')
    const running = startCli(['step', 'job.json'], bench.options)
    await running.until(/"stage":"process"/)
    running.child.kill('SIGINT')
    const result = await running.ended
    expect(result.exitCode).toBe(130)
    expect(eventsOf(result).at(-1)).toMatchObject({ event: 'result', exitCode: 130, pending: 1, status: 'pending' })
  })

  it('prints the JSON Schema of a job, by which others can check theirs', async () => {
    const { stdout, exitCode } = await runCliInProcess(['step', '--schema'], bench.options)
    expect(exitCode).toBe(0)
    const schema = z.fromJSONSchema(JSON.parse(stdout))
    const job = { input: 'a.mov', output: 'out/', preset: 'podcast', segments: [{ startSec: 1, endSec: 2 }], track: 0 }
    expect(schema.safeParse(job).success).toBe(true)
    expect(schema.safeParse([job, { ...job, channels: 'center', outputType: 'flac', force: true }]).success).toBe(true)
    for (const wrong of [{}, { ...job, inputt: 'b' }, { ...job, track: -1 }, []]) {
      expect(schema.safeParse(wrong).success).toBe(false)
    }
  })
})
