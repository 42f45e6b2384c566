import { expect, it, onTestFinished } from 'vitest'
import { openSharedLedger } from '../../src/ledger/index.js'
import type { VoiceStep } from '../../src/ledger/voices/voice.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { request } from './store-fixture.js'

const STEPS: readonly VoiceStep[] = [
  { status: 'registering' },
  { status: 'registered', fileId: 'f' },
  { status: 'uploaded' },
  { status: 'starting', paidSec: 1 },
  { status: 'started' },
  { status: 'succeeded' },
  { status: 'cached' },
]

describeOnPostgres(
  'the ledger on PostgreSQL',
  (server) => {
    it('needs few statements and commits for a job with one voice', async () => {
      server().query('CREATE EXTENSION pg_stat_statements', 'postgres')
      const { jobs, voices, spending, close } = await openSharedLedger(server().url)
      onTestFinished(close)
      await jobs.enqueue(request('k'))
      server().query('SELECT pg_stat_statements_reset()', 'postgres')

      const job = await jobs.claimNext()
      const voice = await voices.claim('v')
      if (job !== null) await jobs.takeOutput(job.lease, '/out/k.mov')
      if (job === null || voice.outcome !== 'claimed') throw new Error('They are not free.')
      for (const step of STEPS) {
        if (step.status === 'starting') await spending.reserve('f', 1, { maxSecondsPerDay: null })
        if (step.status === 'started') await spending.commit('f', 1)
        await voices.advance(voice.lease, step)
      }
      await voices.release(voice.lease)
      await jobs.checkpoint(job.lease, { output: '/out/k.mov', publishedSha256: 'beef' })
      await jobs.complete(job.lease, { status: 'done' })

      const count = (more: string) =>
        Number(server().query(`SELECT sum(calls) FROM pg_stat_statements WHERE ${more}`, 'postgres')[0])
      const ours = "query !~ 'pg_stat_statements'"
      expect(count(ours)).toBeLessThanOrEqual(63)
      expect(count("query = 'COMMIT'")).toBe(10)
    })
  },
  { settings: { shared_preload_libraries: 'pg_stat_statements' } },
)
