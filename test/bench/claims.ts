/**
 * `npm run bench claims [jobs]`: what a claim costs on PostgreSQL with 1, 100 and 10,000 groups, and with a million jobs
 * in the table (half of them done) against an empty one. Milliseconds of `claimNext` as median and 99th percentile, and the
 * part within the server: milliseconds and pages read, which other programs on this machine do not change much.
 */
import { openSharedLedger } from '../../src/ledger/index.js'
import { PostgresServer } from '../helpers/system/postgres-server.js'

const JOBS = Number(process.argv[3] ?? 1_000_000)
const CLAIMS = 500

const server = await PostgresServer.start({
  settings: { shared_buffers: '256MB', max_wal_size: '4GB', shared_preload_libraries: 'pg_stat_statements' },
})
server.query('CREATE EXTENSION pg_stat_statements', 'postgres')

async function claims(
  groups: number,
  jobs: number,
  done: number,
): Promise<readonly [median: number, p99: number, serverMs: number, pages: number]> {
  const url = server.newDatabase()
  const ledger = await openSharedLedger(url)
  try {
    const columns = 'id, key, grp, priority, status, ready, attempts, input, recipe_hash, state, created_ms, updated_ms'
    const add = (name: string, count: number, status: string, ready: number) =>
      server.query(
        `SET search_path = voxmux; SET enable_seqscan = off; INSERT INTO ledger_jobs (${columns}) SELECT '${name}' || lpad(n::text, 24, '0'), '${name}' || n,
           'g' || n % ${groups}, 0, '${status}', ${ready}, 0, '/in/' || n, '', '{}', 0, 0
         FROM generate_series(1, ${count}) AS n`,
        new URL(url).pathname.slice(1),
      )
    add('a', done, 'done', 0)
    add('b', jobs, 'queued', 1)
    server.query('SELECT pg_stat_statements_reset()', 'postgres')
    const taken: number[] = []
    for (let n = 0; n < CLAIMS; n += 1) {
      const beganMs = performance.now()
      const claim = await ledger.jobs.claimNext()
      taken.push(performance.now() - beganMs)
      if (!claim) throw new Error('Nothing is ready.')
    }
    taken.sort((a, b) => a - b)
    const sums = 'SELECT sum(total_exec_time), sum(shared_blks_hit + shared_blks_read) FROM pg_stat_statements'
    const [serverMs = 0, pages = 0] = (server.query(sums, 'postgres')[0] ?? '').split('|').map(Number)
    return [taken[CLAIMS / 2] ?? 0, taken[Math.floor(CLAIMS * 0.99)] ?? 0, serverMs / CLAIMS, pages / CLAIMS]
  } finally {
    await ledger.close()
  }
}

try {
  for (const [groups, jobs, done] of [
    [1, 20_000, 0],
    [100, 20_000, 0],
    [10_000, 20_000, 0],
    [1, CLAIMS, 0],
    [10_000, JOBS / 2, JOBS / 2],
  ] as const) {
    const [median, p99, serverMs, pages] = await claims(groups, jobs, done)
    const what = `${groups} groups, ${jobs} jobs wait, ${done} are done`.padEnd(52)
    process.stdout.write(
      `${what} ${median.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms; server ${serverMs.toFixed(2)} ms, ${pages.toFixed(0)} pages\n`,
    )
  }
} finally {
  await server.stop()
}
