import { describe, expect, it } from 'vitest'
import type { SpendingLog } from '../../../src/ledger/index.js'
import { eachWith, type Shared } from '../store-fixture.js'

const limit = { maxSecondsPerDay: 100 }
const OVER = { code: 'ERR_SPENDING_LIMIT', exitCode: 5 }

/** What every log of spending has to hold. Its clock begins a second before midnight of 2026-06-01, UTC. */
export function describeSpendingLog(name: string, make: () => Promise<Shared<SpendingLog>>): void {
  describe(`${name}: spending`, () => {
    const fixture = eachWith(make)

    it('lets the day be spent to the second, over all processes, and not beyond', async () => {
      const { one, other } = fixture
      await one.reserve('f1', 60, limit)
      await one.commit('f1', 60)
      await other.reserve('f2', 40, limit)
      await expect(one.reserve('f3', 0.5, limit)).rejects.toMatchObject(OVER)
      expect(await one.spent()).toEqual({ day: '2026-06-01', committedSec: 60, reservedSec: 40 })
      await other.release('f2')
      await one.reserve('f3', 0.5, limit)
      expect(await other.spent()).toEqual({ day: '2026-06-01', committedSec: 60, reservedSec: 0.5 })
    })

    it('counts a process once, however often it is reserved and committed', async () => {
      const { one, other } = fixture
      await one.reserve('f1', 80, limit)
      await other.reserve('f1', 90, limit)
      await one.commit('f1', 90)
      await other.commit('f1', 90)
      await other.reserve('f1', 90, limit)
      await other.reserve('f1', 95, { maxSecondsPerDay: null })
      await one.release('f1')
      expect(await one.spent()).toMatchObject({ committedSec: 90, reservedSec: 0 })
    })

    it('lists what is reserved for some days, until it is committed or released', async () => {
      const { one, other } = fixture
      for (const id of ['f1', 'f2', 'f3']) await one.reserve(id, 10, limit)
      await one.commit('f1', 10)
      await one.release('f2')
      fixture.advance(1000)
      await other.reserve('f4', 10, limit)
      expect((await other.reserved()).map(({ id }) => id).toSorted()).toEqual(['f3', 'f4'])
      fixture.advance(3 * 24 * 3600 * 1000)
      expect(await one.reserved()).toEqual([{ id: 'f4', sec: 10 }])
    })

    it('counts what is paid and was never reserved, as a ledger from a back-up does not know', async () => {
      const { one, other } = fixture
      await one.commit('f1', 80)
      await other.commit('f1', 80)
      expect(await one.spent()).toMatchObject({ committedSec: 80, reservedSec: 0 })
      await expect(other.reserve('f2', 30, limit)).rejects.toMatchObject(OVER)
    })

    it('begins anew at midnight UTC', async () => {
      const { one } = fixture
      await one.reserve('f1', 100, limit)
      await one.reserve('f2', 1, { maxSecondsPerDay: null })
      await one.commit('f1', 100)
      fixture.advance(1000)
      await one.reserve('f2', 100, limit)
      expect(await one.spent()).toEqual({ day: '2026-06-02', committedSec: 0, reservedSec: 100 })
      fixture.advance(-1000)
      expect(await one.spent()).toEqual({ day: '2026-06-01', committedSec: 100, reservedSec: 0 })
    })
  })
}
