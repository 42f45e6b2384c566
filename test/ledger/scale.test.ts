import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect } from '../../src/ledger/database/connection.js'
import { type Ledger, openLedger, type SqliteFile } from '../../src/ledger/index.js'
import { CLAIMABLE, NEXT_JOB, WAKE_DELAYED } from '../../src/ledger/jobs/job-claims.js'
import { listQuery } from '../../src/ledger/jobs/job-reads.js'
import { FIRST_EXPIRIES, FREE } from '../../src/ledger/leases/leases.js'
import { request } from './store-fixture.js'

describe('with 20,000 jobs in 50 folders', () => {
  let folder: string
  let ledger: Ledger
  let database: SqliteFile

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'voxmux-jobs-'))
    const file = join(folder, 'ledger.db')
    ledger = await openLedger(file)
    // Of its own: libsql leaves a statement that explains a write in progress, and no transaction ends beside it.
    database = connect(file, () => {})
    const requests = Array.from({ length: 20_000 }, (_, n) => request(`k${n}`, { group: `g${n % 50}` }))
    expect(await ledger.jobs.enqueueAll(requests)).toBe(20_000)
  })
  afterAll(async () => {
    database.close()
    await ledger.close()
    await rm(folder, { recursive: true, force: true })
  })

  const plan = (sql: string, values: (string | number | null)[]) =>
    database.all(`EXPLAIN QUERY PLAN ${sql}`, values).map((row) => String(row.detail))

  it.each<[string, string, (string | number | null)[], string]>([
    ['the next job', NEXT_JOB, [null, '[]'], 'jobs_ready'],
    ['the next job of some groups', NEXT_JOB, ['["g1"]', '[]'], 'jobs_ready'],
    ['what a claim can act on', CLAIMABLE, [], 'jobs_delayed'],
    ['the first leases to expire', FIRST_EXPIRIES, [], 'jobs_expiring'],
    ['the delayed', WAKE_DELAYED, [0], 'jobs_delayed'],
    ['expired leases', `${FREE.jobs} WHERE lease_token IS NOT NULL AND lease_expires_ms <= ?`, [0], 'jobs_expiring'],
    ['leases of a holder', `${FREE.jobs} WHERE lease_holder = ?`, [1], 'jobs_held'],
    ['a list', ...query({}), 'sqlite_autoindex_jobs_1'],
    ['a list of a status', ...query({}, 'failed'), 'jobs_by_status'],
    ['a list of a group and status', ...query({ group: 'g1' }, 'failed'), 'jobs_by_group'],
    ['a page of a list', ...query({ before: 'x' }, 'queued'), 'jobs_by_status'],
    ['a list by input', ...query({ input: '/in/x' }), 'jobs_by_input'],
    [
      'what ended',
      "DELETE FROM jobs INDEXED BY jobs_ended WHERE status IN ('done', 'skipped', 'rejected', 'failed') AND updated_ms < ?",
      [0],
      'jobs_ended',
    ],
    ['counts', 'SELECT grp, status, count(*) AS n FROM jobs GROUP BY grp, status', [], 'jobs_by_group'],
  ])('finds %s along an index', (_name, sql, values, index) => {
    const details = plan(sql, values).filter((detail) => /(SEARCH|SCAN) (jobs|best)|TEMP/.test(detail))
    expect(details.join('\n')).toContain(`INDEX ${index}`)
    // Sorting is for the handful of groups alone.
    if (sql !== NEXT_JOB) expect(details.join('\n')).not.toContain('TEMP B-TREE')
  })

  it('hands out one from each folder before a second from any', async () => {
    const groups = new Set<string>()
    for (let n = 0; n < 50; n += 1) {
      const next = await ledger.jobs.claimNext()
      if (next) groups.add(next.job.group)
    }
    expect(groups.size).toBe(50)
    expect(await ledger.jobs.list({ statuses: ['working'] })).toHaveLength(50)
    expect((await ledger.jobs.counts()).reduce((sum, { count }) => sum + count, 0)).toBe(20_000)
  })
})

function query(...[filter, status]: Parameters<typeof listQuery>): [string, (string | number | null)[]] {
  const { sql, values } = listQuery(filter, status)
  return [sql, values as (string | number | null)[]]
}
