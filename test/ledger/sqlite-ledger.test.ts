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
import { BEFORE_MIDNIGHT_MS, sharedLedger } from './store-fixture.js'

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
