import { openRedisLedger } from '../../src/jobs/redis/open-redis-ledger.js'
import { describeJobStore } from './job-store-contract.js'
import { describeOnRedis } from './redis-fixture.js'

describeOnRedis('jobs on Redis', (redis) => {
  let n = 0

  describeJobStore('Redis', async () => {
    let nowMs = 1_800_000_000_000
    n += 1
    const options = { now: () => nowMs, prefix: `test-${n}` }
    const ledgers = [await openRedisLedger(redis().url, options), await openRedisLedger(redis().url, options)] as const
    return {
      one: ledgers[0].jobs,
      other: ledgers[1].jobs,
      now: () => nowMs,
      advance: (ms) => {
        nowMs += ms
      },
      close: async () => {
        for (const ledger of ledgers) await ledger.close()
      },
    }
  })
})
