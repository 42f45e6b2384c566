import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { isEnded, openLedger } from '../../src/ledger/index.js'
import { queueJob } from '../../src/pipeline/queue/queue-job.js'
import { jobBench } from '../helpers/job-bench.js'
import { ffmpeg, tone } from '../helpers/media-factory.js'
import { reached } from '../helpers/system/reached.js'
import { requestFor } from '../helpers/test-pipeline.js'
import { type FarmWorker, startWorker } from './farm.js'

const SOAK = Boolean(process.env.VOXMUX_SOAK)
const JOBS = SOAK ? 30 : 3
const KILLS = SOAK ? 40 : 3
const STAGES = ['plan', 'cut', 'upload', 'process', 'download', 'align', 'splice', 'mux', 'verify', 'publish']

const bench = jobBench()

it(`does ${JOBS} jobs once each, while its process is killed ${KILLS} times at any stage and the service stumbles`, {
  // As long as it takes: what ends it is a standstill.
  timeout: 0,
}, async () => {
  const { folder, server, pipeline } = bench
  await mkdir(folder.file('in'))
  const inputs = Array.from({ length: JOBS }, (_, index) => folder.file(`in/clip ${index}.wav`))
  for (const [index, input] of inputs.entries()) {
    await ffmpeg(...tone(0.5 + index / 20), input)
    const { settings } = requestFor(input)
    await queueJob({ input, output: `${folder.file('out')}/`, settings, group: `in ${index % 3}` }, pipeline.context)
  }
  const before = await hashes(inputs)
  const settings = {
    ...{ store: folder.file('state/ledger.sqlite'), client: server.clientOptions, folder: folder.path },
    ...{ concurrency: 2, leaseMs: 5000, kind: 'real' as const },
  }
  const workers: FarmWorker[] = []
  onTestFinished(async () => {
    for (const worker of workers) await worker.kill()
  })
  const ended = async () => {
    const counts = await pipeline.context.jobs.counts()
    return counts.reduce((sum, { status, count }) => sum + (isEnded(status) ? count : 0), 0)
  }
  for (let kill = 0; kill < KILLS && (await ended()) < JOBS; kill += 1) {
    server.fail('registerFile', { kind: 'status', status: 503 }, 1)
    server.fail('startProcess', { kind: 'reset-after' }, 1)
    server.fail('download', { kind: 'truncated' }, 1)
    const worker = startWorker(settings)
    workers.push(worker)
    const stage = STAGES[Math.floor(Math.random() * STAGES.length)]
    let isThere = false
    worker.saying(new RegExp(`^${stage} `, 'm')).then(
      () => {
        isThere = true
      },
      () => {},
    )
    await reached(async () => (isThere ? JOBS : ended()), JOBS)
    await worker.kill()
  }
  workers.push(startWorker(settings))
  await reached(ended, JOBS)

  expect(await pipeline.context.jobs.list({ statuses: ['failed', 'rejected'] })).toEqual([])
  const names = inputs.map((_, index) => `clip ${index}.regen.wav`)
  const expected = names.flatMap((name) => [name, `${name}.voxmux.json`]).sort()
  expect((await readdir(folder.file('out'))).sort()).toEqual(expected)
  expect(server.charges).toBe(JOBS)
  const started = server.files.filter(({ charges }) => charges > 0)
  expect(started).toHaveLength(JOBS)
  expect(await hashes(inputs)).toEqual(before)
  expect((await openedLedgerSpending(settings.store)).committedSec).toBeCloseTo(spokenSec(), 3)
})

const spokenSec = () => Array.from({ length: JOBS }, (_, index) => 0.5 + index / 20).reduce((sum, sec) => sum + sec, 0)

async function openedLedgerSpending(file: string) {
  const ledger = await openLedger(file)
  try {
    return await ledger.spending.spent()
  } finally {
    await ledger.close()
  }
}

async function hashes(paths: readonly string[]): Promise<string[]> {
  return Promise.all(
    paths.map(async (path) =>
      createHash('sha256')
        .update(await readFile(path))
        .digest('hex'),
    ),
  )
}
