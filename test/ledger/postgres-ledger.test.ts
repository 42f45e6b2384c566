import { openSharedLedger } from '../../src/ledger/index.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { describeJobStore } from './contracts/job-store-contract.js'
import { describeLimitsLearned } from './contracts/limits-learned-contract.js'
import { describeSpendingLog } from './contracts/spending-log-contract.js'
import { describeVoiceLedger } from './contracts/voice-ledger-contract.js'
import { BEFORE_MIDNIGHT_MS, sharedLedger } from './store-fixture.js'

describeOnPostgres('the ledger on PostgreSQL', (server) => {
  let n = 0

  /** Opens ledgers that share tables of their own: a test's, in the database of the file. */
  const anew = () => {
    n += 1
    const prefix = `test${n}`
    return (now: () => number) => openSharedLedger(server().url, { now, prefix })
  }

  describeJobStore('PostgreSQL', () => sharedLedger('jobs', anew()))
  describeVoiceLedger('PostgreSQL', () => sharedLedger('voices', anew()))
  describeSpendingLog('PostgreSQL', () => sharedLedger('spending', anew(), BEFORE_MIDNIGHT_MS))
  describeLimitsLearned('PostgreSQL', () => sharedLedger('limits', anew()))
})
