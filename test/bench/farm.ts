/**
 * `npm run bench farm [jobs]`: jobs a second with 1, 2 and 4 workers over one Redis, on a service that answers at once,
 * as ratios of one worker, and how many processors each part kept busy meanwhile. Jobs are those of the farm's tests:
 * all but ffmpeg. Where none is idle, more workers cannot do more on this machine; with `TMPDIR` in memory the disk,
 * which syncs each write of Redis and each output, is left out of it.
 */
import { availableParallelism, cpus } from 'node:os'
import { Redis } from 'ioredis'
import { openSharedLedger } from '../../src/ledger/index.js'
import { startWorker } from '../farm/farm.js'
import { FaultServer } from '../helpers/fault-server.js'
import { testFolder } from '../helpers/media-factory.js'
import { startRedis } from '../ledger/redis-fixture.js'
import { processorSec } from './processor-use.js'

const JOBS = Number(process.argv[3] ?? 2000)
/** Not more often than this, or asking would be work of its own. */
const LOOK_MS = 100

interface Rate {
  readonly jobsPerSec: number
  /** Processors kept busy by workers, Redis, and by the service (with this program). */
  readonly busy: readonly [workers: number, redis: number, service: number]
  /** Processors that nothing at all used. */
  readonly idle: number
  /** What Redis was asked for, claims that found nothing and the looks of this program with it. */
  readonly scriptsPerJob: number
}

/** From when the jobs are there to the last that is done, so that the start of the processes does not count. */
async function rateOf(workers: number): Promise<Rate> {
  const [redis, server, folder] = [await startRedis(), await FaultServer.start(ANSWERS_AT_ONCE), await testFolder()]
  const ledger = await openSharedLedger(redis.url)
  const settings = { store: redis.url, client: server.clientOptions, folder: folder.path, concurrency: 4 }
  const running = Array.from({ length: workers }, () => startWorker({ ...settings, leaseMs: 60_000, kind: 'light' }))
  const used = () => [
    running.reduce((sum, { child }) => sum + processorSec(child.pid ?? 0), 0),
    processorSec(redis.pid),
    processorSec(process.pid),
  ]
  try {
    await Promise.all(running.map((worker) => worker.saying(/ready/)))
    await ledger.jobs.pause(null, 'all of them are to wait first')
    const requests = Array.from({ length: JOBS }, (_, n) => ({ key: `j${n}`, group: `g${n % 4}`, input: `/in/${n}` }))
    await ledger.jobs.enqueueAll(requests)
    const scriptsBefore = await scriptsRun(redis.url)
    const idleBefore = idleSec()
    const [began, before] = [performance.now(), used()]
    await ledger.jobs.resume(null)
    while (!(await ledger.jobs.counts()).every(({ status }) => status === 'done'))
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    const sec = (performance.now() - began) / 1000
    const [ofWorkers = 0, ofRedis = 0, ofService = 0] = used().map((value, part) => (value - (before[part] ?? 0)) / sec)
    const idle = (idleSec() - idleBefore) / sec
    const scriptsPerJob = ((await scriptsRun(redis.url)) - scriptsBefore) / JOBS
    return { jobsPerSec: JOBS / sec, busy: [ofWorkers, ofRedis, ofService], idle, scriptsPerJob }
  } finally {
    for (const worker of running) await worker.kill()
    await ledger.close()
    await server.close()
    await redis.stop()
    await folder.remove()
  }
}

const idleSec = () => cpus().reduce((sum, { times }) => sum + times.idle, 0) / 1000

async function scriptsRun(url: string): Promise<number> {
  const client = new Redis(url)
  const calls = [...(await client.info('commandstats')).matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)]
  client.disconnect()
  return calls.reduce((sum, [, count]) => sum + Number(count), 0)
}

const ANSWERS_AT_ONCE = { states: [{ status: 'Succeeded', errorCode: 0, progress: 100 }] } as const

const cores = availableParallelism()
process.stdout.write(
  `${cores} processors, ${JOBS} jobs, Redis with appendfsync always\n` +
    '| workers | jobs a second | ratio | processors busy: workers + Redis + service | idle | jobs a second of a busy processor | scripts a job |\n' +
    '|---|---|---|---|---|---|---|\n',
)
let one = 0
for (const workers of [1, 2, 4]) {
  const { jobsPerSec, busy, idle, scriptsPerJob } = await rateOf(workers)
  one ||= jobsPerSec
  const sum = busy.reduce((a, b) => a + b, 0)
  process.stdout.write(
    `| ${workers} | ${jobsPerSec.toFixed(1)} | ${(jobsPerSec / one).toFixed(2)} ` +
      `| ${busy.map((part) => part.toFixed(2)).join(' + ')} = ${sum.toFixed(2)} of ${cores} | ${idle.toFixed(2)} ` +
      `| ${(jobsPerSec / sum).toFixed(1)} | ${scriptsPerJob.toFixed(1)} |\n`,
  )
}
