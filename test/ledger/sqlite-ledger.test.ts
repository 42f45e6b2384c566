import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, expect, it } from 'vitest'
import { openLedger } from '../../src/ledger/index.js'
import { describeJobStore } from './contracts/job-store-contract.js'
import { describeLimitsLearned } from './contracts/limits-learned-contract.js'
import { describeSpendingLog } from './contracts/spending-log-contract.js'
import { describeVoiceLedger } from './contracts/voice-ledger-contract.js'
import { BEFORE_MIDNIGHT_MS, claimed, request, sharedLedger } from './store-fixture.js'

const folder = mkdtempSync(join(tmpdir(), 'voxmux-jobs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let n = 0

/** Opens ledgers that share a file of their own. */
const anew = () => {
  n += 1
  const file = join(folder, `${n}.db`)
  return (now: () => number) => openLedger(file, { now })
}

describeJobStore('SQLite', () => sharedLedger('jobs', anew()))
describeVoiceLedger('SQLite', () => sharedLedger('voices', anew()))
describeSpendingLog('SQLite', () => sharedLedger('spending', anew(), BEFORE_MIDNIGHT_MS))
describeLimitsLearned('SQLite', () => sharedLedger('limits', anew()))

it('asks for a job that does not exist beside a process that writes', async () => {
  const ledger = await openLedger(join(folder, 'busy.db'))
  const writer = new Libsql(join(folder, 'busy.db'))
  writer.exec('BEGIN IMMEDIATE')
  expect(await ledger.jobs.claimNext()).toBeNull()
  writer.exec('ROLLBACK')
  writer.close()
  await ledger.close()
})

it('keeps no lane of a group whose jobs were forgotten', async () => {
  const file = join(folder, 'lanes.db')
  let nowMs = 1000
  const ledger = await openLedger(file, { now: () => nowMs })
  const { jobs } = ledger
  // Each process of the embedded service has a group of its own, and some end before they take their jobs.
  for (const key of ['done', 'given up', 'open']) await jobs.enqueue(request(key, { group: key }))
  await jobs.complete((await claimed(jobs, 'done')).lease, { status: 'done' })
  await jobs.forget((await jobs.getByKey('given up'))?.id ?? '')
  nowMs += 1000
  expect(await jobs.forgetEnded(nowMs)).toBe(1)
  const reader = new Libsql(file)
  expect(reader.prepare('SELECT grp FROM lanes').all()).toEqual([{ grp: 'open' }])
  reader.close()
  await jobs.enqueue(request('done', { group: 'done' }))
  expect([(await jobs.claimNext())?.job.key, (await jobs.claimNext())?.job.key].sort()).toEqual(['done', 'open'])
  expect(await jobs.claimNext()).toBeNull()
  await ledger.close()
})
