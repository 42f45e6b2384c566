import { renameSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, symlink } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { jobBench } from '../../helpers/job-bench.js'
import { requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()

it('writes nothing into a folder that a symlink has put in the place of its own', async () => {
  const { server, folder, pipeline } = bench
  const input = await bench.take('speech.wav')
  for (const name of ['out', 'elsewhere']) await mkdir(folder.file(name))
  server.behaviour.regenerate = async (path) => {
    await rename(folder.file('out'), folder.file('out-before'))
    await symlink('elsewhere', folder.file('out'))
    return readFile(path)
  }
  const request = requestFor(input, { output: folder.file('out/a.wav') })
  const { event } = await runJob(request, pipeline.context)
  expect(event).toMatchObject({ status: 'failed', output: null, error: { code: 'ERR_STORAGE_AWAY' } })
  expect(event.error?.message).toMatch(/out leads to \S+elsewhere, and led to \S+out when the job began/)
  expect([await readdir(folder.file('elsewhere')), await readdir(folder.file('out-before'))]).toEqual([[], []])
  expect(server.charges).toBe(1)
})

it.each(['mux', 'verify'])('says that its folder went away during %s, not that the output is wrong', async (stage) => {
  const { server, folder, pipeline } = bench
  const [input, out, elsewhere] = [await bench.take('gap.mkv'), folder.file('out'), folder.file('elsewhere')]
  await mkdir(out)
  const request = requestFor(input, { output: folder.file('out/a.mkv') })
  let isAway = false
  const { event } = await runJob(request, pipeline.context, {
    onEvent: (event) => {
      if (isAway || event.event !== 'progress' || event.stage !== stage) return
      isAway = true
      renameSync(out, elsewhere)
    },
  })
  expect(event).toMatchObject({ status: 'failed', output: null, error: { code: 'ERR_STORAGE_AWAY' } })
  await rename(elsewhere, out)
  expect(await runJob(request, pipeline.context)).toMatchObject({ event: { status: 'done' } })
  expect([server.charges, await readdir(out)]).toEqual([1, ['a.mkv', 'a.mkv.voxmux.json']])
})
