import { copyFile } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { fileSha256 } from '../../../src/core/file-identity.js'
import { readReceipt } from '../../../src/pipeline/output/receipt.js'
import { openJobWorker } from '../../../src/pipeline/queue/job-worker.js'
import { queueJob } from '../../../src/pipeline/queue/queue-job.js'
import { fixture, jobBench } from '../../helpers/job-bench.js'
import { ffmpeg } from '../../helpers/media-factory.js'
import { requestFor } from '../../helpers/test-pipeline.js'
import { until } from '../../helpers/until.js'

const bench = jobBench()

it('replaces the receipt of the older version after a kill between an output and its receipt', async () => {
  const { context } = bench.pipeline
  const input = await bench.take('speech.wav')
  const { settings } = requestFor(input)
  const order = { input, output: `${bench.folder.file('out')}/`, settings, group: 'in', supersede: true }
  const worker = openJobWorker(context, { concurrency: 1, pollMs: 20 })
  onTestFinished(() => worker.stop())
  worker.start()
  const done = (id: string) =>
    until(async () => {
      const job = await context.jobs.get(id)
      return job?.status === 'done' && job
    })
  const first = await done((await queueJob(order, context)).job.id)
  const olderReceipt = bench.folder.file('older.json')
  await copyFile(`${first.receipt}`, olderReceipt)
  await ffmpeg('-i', fixture('speech.wav'), '-af', 'volume=0.5', input)
  const second = await done((await queueJob(order, context)).job.id)
  // A process that is killed right after the output got its name leaves this.
  await copyFile(olderReceipt, `${second.receipt}`)
  await context.jobs.requeue(second.id)
  const { output, receipt } = await done(second.id)
  expect((await readReceipt(`${receipt}`))?.output.sha256).toBe(await fileSha256(`${output}`))
})
