import { type Ledger, openSharedLedger } from '../../src/ledger/index.js'
import { describeJobStore } from './contracts/job-store-contract.js'
import { describeLimitsLearned } from './contracts/limits-learned-contract.js'
import { describeSpendingLog } from './contracts/spending-log-contract.js'
import { describeVoiceLedger } from './contracts/voice-ledger-contract.js'
import { describeOnRedis } from './redis-fixture.js'
import { BEFORE_MIDNIGHT_MS, sharedLedger } from './store-fixture.js'

describeOnRedis('the ledger on Redis', (redis) => {
  let n = 0

  /** Opens ledgers that share a prefix of their own: a test's, in the Redis of the file. */
  const anew = () => {
    n += 1
    const prefix = `test-${n}`
    return (now: () => number): Promise<Ledger> => openSharedLedger(redis().url, { now, prefix })
  }

  describeJobStore('Redis', () => sharedLedger('jobs', anew()))
  describeVoiceLedger('Redis', () => sharedLedger('voices', anew()))
  describeSpendingLog('Redis', () => sharedLedger('spending', anew(), BEFORE_MIDNIGHT_MS))
  describeLimitsLearned('Redis', () => sharedLedger('limits', anew()))
})
