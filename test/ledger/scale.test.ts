import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connect } from '../../src/ledger/database/connection.js'
import type { Database, Dialect } from '../../src/ledger/database/database.js'
import { POSTGRES } from '../../src/ledger/database/postgres-sql.js'
import { LEDGER_MIGRATIONS } from '../../src/ledger/database/schema.js'
import { SQLITE } from '../../src/ledger/database/sqlite-database.js'
import { type Ledger, openLedger, openSharedDatabase, openSharedLedger } from '../../src/ledger/index.js'
import { CLAIMABLE, FIRST_OF_LANE, nextLanes } from '../../src/ledger/jobs/job-claims.js'
import { listQuery } from '../../src/ledger/jobs/job-reads.js'
import { WAKE_DELAYED } from '../../src/ledger/jobs/job-wakes.js'
import { FORGET_ENDED } from '../../src/ledger/jobs/sql-operator-writes.js'
import { FREE, freeExpired } from '../../src/ledger/leases/leases.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { importJobs, request } from './store-fixture.js'

type Statement = [name: string, sql: string, values: (string | number | null)[], index: string]

const statements = (dialect: Dialect): Statement[] => [
  ['the next lanes', nextLanes({ dialect }), [null, '[]', 0], 'lanes_next'],
  ['the next lanes of some groups', nextLanes({ dialect }), ['["g1"]', '["g2"]', 0], 'lanes_next'],
  ['the first job of a lane', FIRST_OF_LANE, ['g1', 0], 'jobs_ready'],
  ['the delay and the lease that end first', CLAIMABLE, [], 'jobs_delayed'],
  ['the delayed', WAKE_DELAYED({ dialect }), [0], 'jobs_delayed'],
  ['expired leases', freeExpired({ dialect }), [0], 'jobs_expiring'],
  ['leases of a holder', `${FREE.jobs} WHERE lease_holder = ?`, [1], 'jobs_held'],
  ['a list', ...query({}), 'autoindex_jobs_1|jobs_pkey'],
  ['a list of a status', ...query({}, 'failed'), 'jobs_by_status'],
  ['a list of a group and status', ...query({ group: 'g1' }, 'failed'), 'jobs_by_(group|status)'],
  ['a page of a list', ...query({ before: 'x' }, 'queued'), 'jobs_by_status|jobs_pkey'],
  ['a list by input', ...query({ input: '/in/x' }), 'jobs_by_input'],
  ['a list by published output', ...query({ published: '/out/x' }), 'jobs_published'],
  ['what ended', FORGET_ENDED, [0], 'jobs_ended'],
]

function query(...[filter, status]: Parameters<typeof listQuery>): [string, (string | number | null)[]] {
  const { sql, values } = listQuery(filter, status)
  return [sql, values as (string | number | null)[]]
}

/** 20,000 jobs in 50 groups. */
const requests = Array.from({ length: 20_000 }, (_, n) => request(`k${n}`, { group: `g${n % 50}` }))

function itTakesTurns(ledger: () => Ledger): void {
  it('hands out one from each folder before a second from any', async () => {
    const { jobs } = ledger()
    const groups = new Set<string>()
    for (let n = 0; n < 50; n += 1) {
      const next = await jobs.claimNext()
      if (next) groups.add(next.job.group)
    }
    expect(groups.size).toBe(50)
    expect(await jobs.list({ statuses: ['working'] })).toHaveLength(50)
    expect((await jobs.counts()).reduce((sum, { count }) => sum + count, 0)).toBe(20_000)
  })
}

describe('with 20,000 jobs in 50 folders', () => {
  let folder: string
  let ledger: Ledger
  let database: ReturnType<typeof connect>

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'voxmux-jobs-'))
    const file = join(folder, 'ledger.db')
    ledger = await openLedger(file)
    // Of its own: libsql leaves a statement that explains a write in progress, and no transaction ends beside it.
    database = connect(file, () => {})
    expect(await importJobs(ledger, requests)).toBe(20_000)
  })
  afterAll(async () => {
    database.close()
    await ledger.close()
    await rm(folder, { recursive: true, force: true })
  })

  it.each([
    ...statements(SQLITE),
    ['counts', 'SELECT grp, status, count(*) AS n FROM jobs GROUP BY grp, status', [], 'jobs_by_group'] as Statement,
  ])('finds %s along an index', (_name, sql, values, index) => {
    const details = database.all(`EXPLAIN QUERY PLAN ${sql}`, values).map((row) => String(row.detail))
    const plan = details.filter((detail) => /(SEARCH|SCAN) (jobs|lanes)|TEMP/.test(detail)).join('\n')
    expect(plan).toMatch(new RegExp(`INDEX \\w*(${index})`))
    expect(plan).not.toContain('TEMP B-TREE')
  })

  itTakesTurns(() => ledger)
})

describeOnPostgres('with 20,000 jobs in 50 folders on PostgreSQL', (server) => {
  let ledger: Ledger
  let database: Database

  beforeAll(async () => {
    ledger = await openSharedLedger(server().url)
    database = await openSharedDatabase(server().url, LEDGER_MIGRATIONS, { prefix: 'ledger' })
    expect(await importJobs(ledger, requests)).toBe(20_000)
  })
  afterAll(async () => {
    await database.close()
    await ledger.close()
  })

  describe.each(['that it knows nothing of', 'that it has counted'])('in tables %s', (name) => {
    beforeAll(() => {
      if (name === 'that it has counted') server().query('ANALYZE')
    })
    it.each(statements(POSTGRES))('finds %s along an index', async (_name, sql, values) => {
      const rows = await database.all(`EXPLAIN ${sql}`, values)
      const plan = rows.map((row) => String(row['QUERY PLAN'])).join('\n')
      expect(plan).not.toMatch(/Seq Scan on \w*jobs/)
    })
  })

  itTakesTurns(() => ledger)
})
