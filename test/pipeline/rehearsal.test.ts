import { readdir } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { planJob } from '../../src/pipeline/plan/plan-job.js'
import { pricedPlan } from '../../src/pipeline/voice/narrow-plan.js'
import { jobBench } from '../helpers/job-bench.js'
import { ffmpeg, picture, tone } from '../helpers/media-factory.js'
import { requestFor } from '../helpers/test-pipeline.js'

const bench = jobBench()

it('sends nothing of a film that its verification would refuse in the wanted container, and the dry run says so', async () => {
  const input = bench.folder.file('late.mkv')
  await ffmpeg('-itsoffset', '0.5', ...picture(2), ...tone(2, 48_000, 2), '-c:v', 'mpeg4', '-c:a', 'flac', input)
  const request = requestFor(input, { output: bench.folder.file('late.avi') })
  const { error } = await runJob(request, bench.pipeline.context)
  expect(error).toMatchObject({ code: 'ERR_CONTAINER_UNFIT', exitCode: 2 })
  expect(error?.remedies.join(' ')).toContain('If none of them fits, name the output .wav to write only the audio.')
  expect(bench.server.calls.registerFile).toBe(0)
  expect(await readdir(bench.folder.path)).not.toContain('late.avi')
  const { signal } = new AbortController()
  const plan = await planJob(request, {})
  await expect(pricedPlan(plan, request, {}, signal)).rejects.toMatchObject({ code: 'ERR_CONTAINER_UNFIT' })
})
