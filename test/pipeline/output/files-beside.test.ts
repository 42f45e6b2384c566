import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { requireFreeNames } from '../../../src/pipeline/output/files-beside.js'
import { requireFreeOutput } from '../../../src/pipeline/output/require-free-output.js'
import { planJob } from '../../../src/pipeline/plan/plan-job.js'
import { jobBench } from '../../helpers/job-bench.js'
import { type RequestOptions, requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()

const run = async (input: string, options: RequestOptions) =>
  (await runJob(requestFor(input, options), bench.pipeline.context)).event

it.each([
  ['.voxmux.json', {}],
  ['.voxmux.html', { report: true }],
  ['.voxmux.html', { recipe: { qc: 'ebu-r128' } }],
] as const)('keeps a file of another program beside the output (%s), and pays for nothing', async (suffix, wishes) => {
  const input = await bench.take('speech.wav')
  const output = bench.folder.file('out.wav')
  await writeFile(`${output}${suffix}`, 'mine')
  const request = requestFor(input, { output, ...wishes })
  await expect(requireFreeOutput(await planJob(request, {}), request)).rejects.toMatchObject({
    code: 'ERR_OUTPUT_EXISTS',
  })
  const refused = await run(input, { output, ...wishes })
  expect(refused).toMatchObject({ status: 'failed', error: { code: 'ERR_OUTPUT_EXISTS' } })
  expect(refused.error?.message).toContain(`${output}${suffix}`)
  expect(await readFile(`${output}${suffix}`, 'utf8')).toBe('mine')
  expect([bench.server.charges, bench.server.files.length]).toEqual([0, 0])
  expect((await readdir(bench.folder.path)).sort()).toEqual([`out.wav${suffix}`, 'speech.wav', 'state'])
  expect(await run(input, { output, ...wishes, force: true })).toMatchObject({ status: 'done', error: null })
  expect(await readFile(`${output}${suffix}`, 'utf8')).not.toBe('mine')
})

it('keeps a file that appears while the service works, and pays for the voice once', async () => {
  const input = await bench.take('speech.wav')
  const output = bench.folder.file('out.wav')
  const page = `${output}.voxmux.html`
  bench.server.behaviour.regenerate = async (path) => {
    await writeFile(page, 'mine')
    return path
  }
  const refused = await run(input, { output, report: true })
  expect(refused).toMatchObject({ status: 'failed', error: { code: 'ERR_OUTPUT_EXISTS' } })
  expect((await readdir(bench.folder.path)).sort()).toEqual(['out.wav.voxmux.html', 'speech.wav', 'state'])
  expect(await readFile(page, 'utf8')).toBe('mine')
  await rm(page)
  expect(await run(input, { output, report: true })).toMatchObject({ status: 'done', error: null })
  expect(bench.server.charges).toBe(1)
})

it('replaces what an earlier output left beside it', async () => {
  const input = await bench.take('speech.wav')
  const output = bench.folder.file('out.wav')
  expect(await run(input, { output, report: true })).toMatchObject({ status: 'done' })
  await rm(output)
  expect(await run(input, { output, report: true })).toMatchObject({ status: 'done', error: null })
  expect(bench.server.charges).toBe(1)
})

it('keeps a file of another program in the place of a report that is wanted later', async () => {
  const input = await bench.take('speech.wav')
  const output = bench.folder.file('out.wav')
  expect(await run(input, { output })).toMatchObject({ status: 'done' })
  await writeFile(`${output}.voxmux.html`, 'mine')
  expect(await run(input, { output, report: true })).toMatchObject({ status: 'skipped', error: null })
  expect(await readFile(`${output}.voxmux.html`, 'utf8')).toBe('mine')
})

it('tells a sidecar of its own from another', async () => {
  const output = bench.folder.file('out.wav')
  const names = { report: false, sidecar: true }
  await writeFile(`${output}.c2pa`, 'a manifest with org.voxmux.regeneration')
  await expect(requireFreeNames(output, names)).resolves.toBeUndefined()
  await writeFile(`${output}.c2pa`, 'a manifest of another program')
  await expect(requireFreeNames(output, names)).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' })
  await expect(requireFreeNames(output, { report: false, sidecar: false })).resolves.toBeUndefined()
})
