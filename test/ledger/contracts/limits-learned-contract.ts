import { describe, expect, it } from 'vitest'
import type { LearnedLimit, LimitsLearned } from '../../../src/ledger/index.js'
import { eachWith, type Shared } from '../store-fixture.js'

const tooLong = (value: number): LearnedLimit => ({
  service: 's',
  errorCode: -15,
  property: 'durationSec',
  relation: 'at-least',
  value,
})

/** What everything that remembers refusals has to hold. */
export function describeLimitsLearned(name: string, make: () => Promise<Shared<LimitsLearned>>): void {
  describe(`${name}: learned limits`, () => {
    const fixture = eachWith(make)

    it('warns of a file like one that was refused, at that service', async () => {
      const limits = fixture.one
      await limits.learn(tooLong(7200))
      await limits.learn({ service: 's', errorCode: -7, property: 'codec', relation: 'equal', value: 'atrac3' })
      await limits.learn({ service: 's', errorCode: -14, property: 'durationSec', relation: 'at-most', value: 0.2 })
      const codes = async (service: string, facts: Record<string, string | number>) =>
        (await limits.matching(service, facts)).map((limit) => limit.errorCode).sort((a, b) => a - b)
      expect(await codes('s', { durationSec: 7200 })).toEqual([-15])
      expect(await codes('s', { durationSec: 9000, codec: 'atrac3' })).toEqual([-15, -7])
      expect(await codes('s', { durationSec: 0.1 })).toEqual([-14])
      expect(await codes('s', { durationSec: 60, codec: 'aac' })).toEqual([])
      expect(await codes('s', { codec: 7, durationSec: '9000' })).toEqual([])
      expect(await codes('another', { durationSec: 9000 })).toEqual([])
    })

    it('keeps the strictest bound, and forgets one that a success contradicts', async () => {
      const limits = fixture.one
      for (const value of [7200, 9000, 5000]) await limits.learn(tooLong(value))
      expect(await limits.matching('s', { durationSec: 99_999 })).toEqual([tooLong(5000)])
      await limits.unlearn('s', { durationSec: 4000 })
      expect(await limits.matching('s', { durationSec: 5000 })).toHaveLength(1)
      await limits.unlearn('s', { durationSec: 6000 })
      expect(await limits.matching('s', { durationSec: 99_999 })).toEqual([])
    })
  })
}
