/**
 * `npm run bench farm`: jobs a second with 1, 2 and 4 workers over one Redis, on a service that answers at once, as
 * ratios of one worker. Jobs are those of the farm's tests: all but ffmpeg.
 */
import { availableParallelism } from 'node:os'
import { openSharedLedger } from '../../src/jobs/index.js'
import { startWorker } from '../farm/farm.js'
import { FaultServer } from '../helpers/fault-server.js'
import { testFolder } from '../helpers/media-factory.js'
import { until } from '../helpers/until.js'
import { startRedis } from '../jobs/redis-fixture.js'

const JOBS = 400

/** Jobs a second from the first that is done to the last, so that the start of the processes does not count. */
async function jobsPerSec(workers: number): Promise<number> {
  const [redis, server, folder] = [await startRedis(), await FaultServer.start(), await testFolder()]
  const ledger = await openSharedLedger(redis.url)
  const client = server.clientOptions
  const settings = { store: redis.url, client, folder: folder.path, concurrency: 4, leaseMs: 60_000 }
  const running = Array.from({ length: workers }, () => startWorker({ ...settings, kind: 'light' }))
  try {
    await Promise.all(running.map((worker) => worker.saying(/ready/)))
    const requests = Array.from({ length: JOBS }, (_, n) => ({ key: `j${n}`, group: `g${n % 4}`, input: `/in/${n}` }))
    await ledger.jobs.enqueueAll(requests)
    const began = performance.now()
    await until(async () => (await ledger.jobs.counts()).every(({ status }) => status === 'done'))
    return (1000 * JOBS) / (performance.now() - began)
  } finally {
    for (const worker of running) await worker.kill()
    await ledger.close()
    await server.close()
    await redis.stop()
    await folder.remove()
  }
}

process.stdout.write(
  `${availableParallelism()} cores, Redis with appendfsync always\n| workers | jobs a second | ratio |\n|---|---|---|\n`,
)
let one = 0
for (const workers of [1, 2, 4]) {
  const rate = await jobsPerSec(workers)
  one ||= rate
  process.stdout.write(`| ${workers} | ${rate.toFixed(1)} | ${(rate / one).toFixed(2)} |\n`)
}
