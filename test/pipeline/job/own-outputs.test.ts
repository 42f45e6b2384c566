import { copyFile, mkdir, readdir, symlink } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { holdJob } from '../../../src/ledger/index.js'
import { type JobKind, type PlannedJob, runJobLife } from '../../../src/pipeline/job/job-life.js'
import type { JobOutcome } from '../../../src/pipeline/job/job-outcome.js'
import { JobReporter } from '../../../src/pipeline/job/job-reporter.js'
import { jobKindOf } from '../../../src/pipeline/job/kinds/job-kind.js'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { requireOwnOutputs } from '../../../src/pipeline/plan/own-outputs.js'
import type { PlanRequest } from '../../../src/pipeline/plan/plan-job.js'
import { commandInProcess } from '../../helpers/command-in-process.js'
import { fixture, jobBench } from '../../helpers/job-bench.js'
import { openTestPipeline, requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()

/** A fixture in a folder of its own, as `speech.wav`. */
async function inFolder(name: string, of: string): Promise<string> {
  const path = bench.folder.file(`${name}/speech.wav`)
  await mkdir(bench.folder.file(name))
  await copyFile(fixture(of), path)
  return path
}

it('run pays for neither of two inputs that have one output, even with --force', async () => {
  const { server, folder } = bench
  const inputs = [await bench.take('speech.wav'), await inFolder('more', 'speech.wav')]
  const to = ['-o', `${folder.file('out')}/`, '--force', '--json']
  const env = { PATH: process.env.PATH ?? '', ...server.env, VOXMUX_STATE_DIR: folder.file('state-of-run') }
  const { code, stdout } = await commandInProcess(['run', ...inputs, ...to], { cwd: folder.path, env })
  expect(code).toBe(2)
  expect(stdout).toContain('ERR_OUTPUT_SHARED')
  expect(server.calls.registerFile).toBe(0)
})

it('finds one output behind two folders, and of two extensions', async () => {
  const { folder } = bench
  const input = await bench.take('speech.wav')
  await mkdir(folder.file('real'))
  await symlink('real', folder.file('link'))
  const to = (output: string, other: Partial<PlanRequest> = {}) => ({ ...requestFor(input, { output }), ...other })
  const shared = [to(folder.file('real/')), to(folder.file('link/'))]
  await expect(requireOwnOutputs(shared)).rejects.toMatchObject({ code: 'ERR_OUTPUT_SHARED' })
  const mp3 = { input: input.replace('.wav', '.mp3') }
  const two = [to(folder.file('real/')), to(folder.file('real/'), mp3)]
  await requireOwnOutputs(two)
  const flac = two.map((request) => ({ ...request, settings: { ...request.settings, outputType: 'flac' as const } }))
  await expect(requireOwnOutputs(flac)).rejects.toMatchObject({ code: 'ERR_OUTPUT_SHARED' })
})

it('run replaces no input with the output of another one, even with --force', async () => {
  const { server, folder } = bench
  const input = await bench.take('speech.wav')
  await copyFile(fixture('field-recorder.wav'), folder.file('speech.regen.wav'))
  await symlink('.', folder.file('link'))
  const env = { PATH: process.env.PATH ?? '', ...server.env, VOXMUX_STATE_DIR: folder.file('state-of-run') }
  const inputs = ['run', input, folder.file('link/speech.regen.wav'), '--json']
  const { code, stdout } = await commandInProcess([...inputs, '--force'], { cwd: folder.path, env })
  expect(code).toBe(2)
  expect(stdout).toContain('ERR_OUTPUT_IS_INPUT')
  expect(server.calls.registerFile).toBe(0)
  // Without it, nothing is replaced: a second `voxmux *.wav` names the outputs of the first.
  const own = folder.file('speech.regen.wav')
  await requireOwnOutputs([requestFor(input), requestFor(own)])
  await requireOwnOutputs([input, own].map((path) => requestFor(path, { force: true, previewSec: 1 })))
})

it('finds one output in a folder that is still to be made, behind a link', async () => {
  const { folder } = bench
  const input = await bench.take('speech.wav')
  await mkdir(folder.file('real'))
  await symlink('real', folder.file('link'))
  const requests = ['real/new/', 'link/new/'].map((place) => requestFor(input, { output: `${folder.path}/${place}` }))
  await expect(requireOwnOutputs(requests)).rejects.toMatchObject({ code: 'ERR_OUTPUT_SHARED' })
})

it('a job takes its output before it looks if that exists: none is published while the job is checked', async () => {
  const { server, folder, pipeline } = bench
  const { context } = pipeline
  const inputs = [await bench.take('speech.wav'), await inFolder('more', 'field-recorder.wav')]
  const [first, second] = inputs.map((input) => requestFor(input, { output: folder.file('shared.wav') }))
  if (!first || !second) throw new Error('Two requests are needed.')
  let refused: JobOutcome | undefined
  const kind = jobKindOf(first, context)
  const slow: JobKind = {
    async plan(signal) {
      const planned = await kind.plan(signal)
      const requireStartable = async () => {
        refused = await runJob(second, context)
      }
      return { ...planned, requireStartable }
    },
  }
  const facts = { id: 'first', group: 'run', preset: '', output: null, data: {}, signal: new AbortController().signal }
  const reporter = new JobReporter({ facts: { ...facts, input: first.input }, hooks: [], logger: context.logger })
  const claim = async ({ key, input, output, recipeHash, inputIdentity }: PlannedJob) => {
    await context.jobs.enqueue({ key, group: 'run', preset: '', input, output, recipeHash, inputIdentity })
    const claimed = await context.jobs.claim(key)
    return claimed.outcome === 'claimed' ? holdJob(context.jobs, claimed) : null
  }
  expect(await runJobLife(slow, { context, reporter, claim })).toMatchObject({ status: 'done' })
  expect(refused?.event).toMatchObject({ status: 'failed', error: { code: 'ERR_OUTPUT_SHARED' } })
  expect(server.charges).toBe(1)
})

it('a job pays nothing while another process makes the same output of another input', async () => {
  const { server, folder, pipeline } = bench
  const inputs = [await bench.take('speech.wav'), await inFolder('more', 'field-recorder.wav')]
  const [first, second] = inputs.map((input) => requestFor(input, { output: folder.file('shared.wav') }))
  if (!first || !second) throw new Error('Two requests are needed.')
  const other = await openTestPipeline(server, folder.file('state'))
  onTestFinished(() => other.close())
  let refused: JobOutcome | undefined
  server.behaviour.regenerate = async (path) => {
    refused ??= await runJob(second, other.context)
    return path
  }
  expect((await runJob(first, pipeline.context)).event.status).toBe('done')
  const message = `${inputs[0]} and ${inputs[1]} have the same output: ${folder.file('shared.wav')}.`
  expect(refused?.event).toMatchObject({ status: 'failed', error: { code: 'ERR_OUTPUT_SHARED', message } })
  expect(server.charges).toBe(1)
  expect((await readdir(folder.path)).filter((name) => name.startsWith('shared'))).toEqual([
    'shared.wav',
    'shared.wav.voxmux.json',
  ])
})

it('a job pays nothing while another process makes the same output with other settings', async () => {
  const { server, folder, pipeline } = bench
  const input = await bench.take('speech.wav')
  const output = folder.file('same.wav')
  const other = await openTestPipeline(server, folder.file('state'))
  onTestFinished(() => other.close())
  const changed = requestFor(input, { output, recipe: { mix: 50 }, segments: [{ startSec: 0, endSec: 1 }] })
  let refused: JobOutcome | undefined
  server.behaviour.regenerate = async (path) => {
    refused ??= await runJob(changed, other.context)
    return path
  }
  expect((await runJob(requestFor(input, { output }), pipeline.context)).event.status).toBe('done')
  expect(refused?.event).toMatchObject({ status: 'failed', error: { code: 'ERR_OUTPUT_BUSY' } })
  expect([refused?.error?.exitCode, server.charges]).toEqual([4, 1])
  const forced = requestFor(input, { output, force: true, segments: [{ startSec: 0, endSec: 1 }] })
  expect((await runJob(forced, other.context)).event.status).toBe('done')
  expect(server.charges).toBe(2)
})

it('refuses an output whose name is not UTF-8, before anything is sent', async () => {
  const { server, folder, pipeline } = bench
  const request = requestFor(await bench.take('speech.wav'), { output: folder.file('o\ufffd.wav') })
  const { event } = await runJob(request, pipeline.context)
  expect(event).toMatchObject({ status: 'failed', error: { code: 'ERR_NAME_NOT_UTF8' } })
  expect(server.calls.registerFile).toBe(0)
})
