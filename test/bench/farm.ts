/**
 * `npm run bench farm [jobs]`: jobs a second with 1, 2 and 4 workers over one PostgreSQL, on a service that answers at once,
 * as ratios of one worker, and how many processors each part kept busy meanwhile. Jobs are those of the farm's tests:
 * all but ffmpeg. Where none is idle, more workers cannot do more on this machine; with `TMPDIR` in memory the disk,
 * which syncs each commit and each output, is left out of it.
 */
import { availableParallelism, cpus } from 'node:os'
import { openSharedLedger } from '../../src/ledger/index.js'
import { startWorker } from '../farm/farm.js'
import { FaultServer } from '../helpers/fault-server.js'
import { testFolder } from '../helpers/media-factory.js'
import { PostgresServer } from '../helpers/system/postgres-server.js'
import { importJobs } from '../ledger/store-fixture.js'
import { processorSec } from './processor-use.js'

const JOBS = Number(process.argv[3] ?? 2000)
/** Not more often than this, or asking would be work of its own. */
const LOOK_MS = 100

interface Rate {
  readonly jobsPerSec: number
  /** Processors kept busy by workers, PostgreSQL, and by the service (with this program). */
  readonly busy: readonly [workers: number, postgres: number, service: number]
  /** Processors that nothing at all used. */
  readonly idle: number
  /** What PostgreSQL did for a job, claims that found nothing and the looks of this program with it. */
  readonly perJob: Cost
}

interface Cost {
  readonly statements: number
  readonly walBytes: number
  /** Microseconds within the server, without the sync of a commit. */
  readonly execUs: number
}

/** From when the jobs are there to the last that is done, so that the start of the processes does not count. */
async function rateOf(workers: number): Promise<Rate> {
  const database = await PostgresServer.start({
    settings: { shared_preload_libraries: 'pg_stat_statements' },
    isDurable: true,
  })
  database.query('CREATE EXTENSION pg_stat_statements', 'postgres')
  const [server, folder] = [await FaultServer.start(ANSWERS_AT_ONCE), await testFolder()]
  const ledger = await openSharedLedger(database.url)
  const settings = { store: database.url, client: server.clientOptions, folder: folder.path, concurrency: 4 }
  const running = Array.from({ length: workers }, () => startWorker({ ...settings, leaseMs: 60_000, kind: 'light' }))
  const used = () => [
    running.reduce((sum, { child }) => sum + processorSec(child.pid ?? 0), 0),
    database.pids.reduce((sum, pid) => sum + processorSec(pid), 0),
    processorSec(process.pid),
  ]
  try {
    await Promise.all(running.map((worker) => worker.saying(/ready/)))
    await ledger.jobs.pause(null, 'all of them are to wait first')
    const requests = Array.from({ length: JOBS }, (_, n) => ({ key: `j${n}`, group: `g${n % 4}`, input: `/in/${n}` }))
    await importJobs(ledger, requests)
    database.query('SELECT pg_stat_statements_reset()', 'postgres')
    const idleBefore = idleSec()
    const [began, before] = [performance.now(), used()]
    await ledger.jobs.resume(null)
    while (!(await ledger.jobs.counts()).every(({ status }) => status === 'done'))
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    const sec = (performance.now() - began) / 1000
    const [ofWorkers = 0, ofPostgres = 0, ofService = 0] = used().map(
      (value, part) => (value - (before[part] ?? 0)) / sec,
    )
    const idle = (idleSec() - idleBefore) / sec
    return { jobsPerSec: JOBS / sec, busy: [ofWorkers, ofPostgres, ofService], idle, perJob: costOfJob(database) }
  } finally {
    for (const worker of running) await worker.kill()
    await ledger.close()
    await server.close()
    await database.stop()
    await folder.remove()
  }
}

const idleSec = () => cpus().reduce((sum, { times }) => sum + times.idle, 0) / 1000

function costOfJob(database: PostgresServer): Cost {
  const sums = 'sum(calls), sum(wal_bytes), sum(total_exec_time) * 1000'
  const [text = ''] = database.query(`SELECT ${sums} FROM pg_stat_statements`, 'postgres')
  const [statements = 0, walBytes = 0, execUs = 0] = text.split('|').map((sum) => Number(sum) / JOBS)
  return { statements, walBytes, execUs }
}

const ANSWERS_AT_ONCE = { states: [{ status: 'Succeeded', errorCode: 0, progress: 100 }] } as const

const cores = availableParallelism()
process.stdout.write(
  `${cores} processors, ${JOBS} jobs, PostgreSQL with every commit on the disk\n` +
    '| workers | jobs a second | ratio | processors busy: workers + PostgreSQL + service | idle | jobs a second of a busy processor | a job: statements, WAL, time |\n' +
    '|---|---|---|---|---|---|---|\n',
)
let one = 0
for (const workers of [1, 2, 4]) {
  const { jobsPerSec, busy, idle, perJob } = await rateOf(workers)
  one ||= jobsPerSec
  const sum = busy.reduce((a, b) => a + b, 0)
  process.stdout.write(
    `| ${workers} | ${jobsPerSec.toFixed(1)} | ${(jobsPerSec / one).toFixed(2)} ` +
      `| ${busy.map((part) => part.toFixed(2)).join(' + ')} = ${sum.toFixed(2)} of ${cores} | ${idle.toFixed(2)} ` +
      `| ${(jobsPerSec / sum).toFixed(1)} ` +
      `| ${perJob.statements.toFixed(0)}, ${perJob.walBytes.toFixed(0)} B, ${perJob.execUs.toFixed(0)} µs |\n`,
  )
}
