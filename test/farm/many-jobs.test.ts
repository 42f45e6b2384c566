import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openSharedLedger } from '../../src/ledger/index.js'
import { FaultServer } from '../helpers/fault-server.js'
import { testFolder } from '../helpers/media-factory.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { reached } from '../helpers/system/reached.js'
import { importJobs } from '../ledger/store-fixture.js'
import { type FarmWorker, startWorker } from './farm.js'
import { voiceOf } from './light-job.js'

const JOBS = process.env.VOXMUX_SOAK ? 10_000 : 60
const KILLS = process.env.VOXMUX_SOAK ? 40 : 2
const WORKERS = 4

describeOnPostgres(
  `${JOBS} jobs over ${WORKERS} processes that are killed at random, and a PostgreSQL that is, too`,
  (store) => {
    // As long as it takes: what ends it is a standstill.
    it('gives each output once, and starts each file once', { timeout: 0 }, async () => {
      const server = await FaultServer.start()
      const folder = await testFolder()
      const ledger = await openSharedLedger(store().url)
      const settings = {
        ...{ store: store().url, client: server.clientOptions, folder: folder.path, concurrency: 4, leaseMs: 5000 },
        kind: 'light' as const,
      }
      const workers: FarmWorker[] = []
      try {
        const keys = Array.from({ length: JOBS }, (_, n) => `job-${n}`)
        const requests = keys.map((key, n) => ({ key, group: `folder ${n % 7}`, input: folder.file(`${key}.wav`) }))
        expect(await importJobs(ledger, requests)).toBe(JOBS)
        for (let n = 0; n < WORKERS; n += 1) workers.push(startWorker(settings))

        const done = async () =>
          (await ledger.jobs.counts()).reduce((sum, { status, count }) => sum + (status === 'done' ? count : 0), 0)
        let restarted = false
        for (let kill = 1; kill <= KILLS; kill += 1) {
          await reached(done, (JOBS * kill) / (KILLS + 1))
          const at = Math.floor(Math.random() * WORKERS)
          await workers[at]?.kill()
          workers[at] = startWorker(settings)
          if (kill >= KILLS / 2 && !restarted) {
            restarted = true
            await store().restart()
          }
        }
        await reached(done, JOBS)

        // Those that were not killed outlived the restart.
        for (const { child } of workers) expect([child.exitCode, child.signalCode]).toEqual([null, null])

        // Each output once: all are there, whole, and none was published a second time.
        const names = (await readdir(folder.path)).filter((name) => name.endsWith('.out'))
        expect(names.sort()).toEqual(keys.map((key) => `${key}.out`).sort())
        for (const key of keys) expect(await readFile(join(folder.path, `${key}.out`), 'utf8')).toBe(voiceOf(key))
        const published = (await readFile(join(folder.path, 'published.log'), 'utf8')).trim().split('\n')
        expect(new Set(published).size).toBe(published.length)

        // Each start once: one charged file a job, and no file id was asked to start twice.
        expect(server.charges).toBe(JOBS)
        const charged = server.files.filter(({ charges }) => charges > 0)
        expect(new Set(charged.map(({ clientFileId }) => clientFileId)).size).toBe(JOBS)
        const started = server.requestsOf('startProcess').map(({ body }) => (body as { file_id: string }).file_id)
        expect(new Set(started).size).toBe(started.length)

        // Nobody holds anything, and the ledger knows what was paid.
        expect((await ledger.spending.spent()).committedSec).toBe(JOBS)
        expect(await ledger.jobs.list({ statuses: ['queued', 'working', 'waiting-remote', 'failed'] })).toEqual([])
      } finally {
        for (const worker of workers) await worker.kill()
        await ledger.close()
        await server.close()
        await folder.remove()
      }
    })
  },
)
