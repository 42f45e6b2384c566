import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLedger } from '../../src/jobs/index.js'
import { describeJobStore } from './job-store-contract.js'

describeJobStore('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'voxmux-jobs-'))
  const file = join(folder, 'ledger.db')
  let nowMs = 1_800_000_000_000
  const now = () => nowMs
  const ledgers = [await openLedger(file, { now }), await openLedger(file, { now })] as const
  return {
    one: ledgers[0].jobs,
    other: ledgers[1].jobs,
    now,
    advance: (ms) => {
      nowMs += ms
    },
    close: async () => {
      for (const ledger of ledgers) await ledger.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
})
