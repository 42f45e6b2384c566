import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Database, type Ledger, openDatabase, openLedger } from '../../src/jobs/index.js'
import { NEXT_JOB, WAKE_DELAYED } from '../../src/jobs/job-claims.js'
import { LEDGER_MIGRATIONS } from '../../src/jobs/schema.js'
import { listQuery } from '../../src/jobs/sqlite-job-store.js'
import { request } from './store-fixture.js'

describe('with 20,000 jobs in 50 folders', () => {
  let folder: string
  let ledger: Ledger
  let database: Database

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'voxmux-jobs-'))
    const file = join(folder, 'ledger.db')
    ledger = await openLedger(file)
    database = openDatabase(file, LEDGER_MIGRATIONS)
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

  it.each<[string, string, (string | number | null)[]]>([
    ['the next job', NEXT_JOB, [null]],
    ['the next job of some groups', NEXT_JOB, ['["g1"]']],
    ['the delayed', WAKE_DELAYED, [0]],
    ['expired leases', 'UPDATE jobs SET ready = 1 WHERE lease_token IS NOT NULL AND lease_expires_ms <= ?', [0]],
    ['leases of a holder', 'UPDATE jobs SET ready = 1 WHERE lease_holder = ?', [1]],
    ['a list', ...query({})],
    ['a list of some statuses', ...query({ statuses: ['failed', 'rejected'] })],
    ['a list of a group and status', ...query({ group: 'g1', statuses: ['failed'] })],
    ['a list by input', ...query({ input: '/in/x' })],
    [
      'what ended',
      "DELETE FROM jobs WHERE status IN ('done', 'skipped', 'rejected', 'failed') AND updated_ms < ?",
      [0],
    ],
    ['a key', 'SELECT id FROM jobs WHERE key = ?', ['k']],
  ])('finds %s by an index, without reading all jobs', (_name, sql, values) => {
    const details = plan(sql, values)
    expect(details.join('\n')).toMatch(/(SEARCH|SCAN) (jobs|best)/)
    for (const detail of details) {
      expect(detail).not.toMatch(/SCAN (jobs|best)(?! USING (COVERING )?INDEX)/)
      expect(detail).not.toMatch(/TEMP B-TREE.*jobs/)
    }
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

function query(filter: Parameters<typeof listQuery>[0]): [string, (string | number | null)[]] {
  const { sql, values } = listQuery(filter)
  return [sql, values as (string | number | null)[]]
}
