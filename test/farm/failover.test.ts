import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSharedLedger } from '../../src/ledger/index.js'
import { FaultServer } from '../helpers/fault-server.js'
import { testFolder } from '../helpers/media-factory.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { reached } from '../helpers/system/reached.js'
import { request } from '../ledger/store-fixture.js'
import { startWorker } from './farm.js'

const JOBS = process.env.VOXMUX_SOAK ? 2000 : 40

describeOnPostgres('a PostgreSQL that fails over', (primary) => {
  it('is followed by workers to the promoted replica, which lacks nothing that was acknowledged', {
    // As long as it takes: what ends it is a standstill.
    timeout: 0,
  }, async () => {
    const replica = await primary().startReplica({ isSynchronous: true })
    const server = await FaultServer.start()
    const folder = await testFolder()
    const store = `postgres://voxmux@127.0.0.1:${primary().port},127.0.0.1:${replica.port}/voxmux`
    const ledger = await openSharedLedger(store)
    const settings = { store, client: server.clientOptions, folder: folder.path, concurrency: 4, leaseMs: 5000 }
    const workers = [0, 1].map(() => startWorker({ ...settings, kind: 'light' }))
    onTestFinished(async () => {
      for (const worker of workers) await worker.kill()
      await ledger.close()
      await server.close()
      await replica.stop()
      await folder.remove()
    })
    const acknowledged: string[] = []
    const queueing = (async () => {
      for (let n = 0; n < JOBS; n += 1) {
        const { job, created } = await ledger.jobs.enqueue(request(`job-${n}`, { group: `folder ${n % 3}` }))
        expect(created).toBe(true)
        acknowledged.push(job.id)
      }
    })()
    const done = async () =>
      (await ledger.jobs.counts()).reduce((sum, { status, count }) => sum + (status === 'done' ? count : 0), 0)
    await reached(done, JOBS / 4)
    await primary().kill()
    replica.promote()
    await queueing
    await reached(done, JOBS)

    for (const { child } of workers) expect([child.exitCode, child.signalCode]).toEqual([null, null])
    const known = new Set((await ledger.jobs.list({ limit: 2 * JOBS })).map(({ id }) => id))
    expect(acknowledged.filter((id) => !known.has(id))).toEqual([])
    expect((await readdir(folder.path)).filter((name) => name.endsWith('.out'))).toHaveLength(JOBS)
    const published = (await readFile(join(folder.path, 'published.log'), 'utf8')).trim().split('\n')
    expect(new Set(published).size).toBe(published.length)
    expect(server.charges).toBe(JOBS)
    expect((await ledger.spending.spent()).committedSec).toBe(JOBS)
  })
})
