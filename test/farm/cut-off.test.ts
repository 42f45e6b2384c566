import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { type Job, openSharedLedger } from '../../src/ledger/index.js'
import { queueJob } from '../../src/pipeline/queue/queue-job.js'
import { FaultServer } from '../helpers/fault-server.js'
import { testFolder } from '../helpers/media-factory.js'
import { tinyWave } from '../helpers/sound/tiny-wave.js'
import { proxyTo } from '../helpers/system/network-proxy.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { openTestPipeline, requestFor } from '../helpers/test-pipeline.js'
import { until } from '../helpers/until.js'
import { claimed } from '../ledger/store-fixture.js'
import { type FarmWorker, startWorker } from './farm.js'

const RUNNING = [{ status: 'InProgress', errorCode: 0, progress: 50 }] as const
const ENDED = [{ status: 'Succeeded', errorCode: 0, progress: 100 }] as const

const isVisible = (name: string) => !name.startsWith('.')

/** Several workers start one after the other, on a machine that has other tests to run. */
const LONG_MS = 240_000

describeOnPostgres('a worker that is out of reach in the middle of a job', (postgres) => {
  /** A store, a service that does not come to an end yet, and workers between them. */
  async function farm() {
    // A service of its own knows nothing of the voices of the one before.
    const store = postgres().newDatabase()
    const name = new URL(store).pathname.slice(1)
    const server = await FaultServer.start({ states: RUNNING })
    const folder = await testFolder()
    const ledger = await openSharedLedger(store)
    const pipeline = await openTestPipeline(server, folder.file('state'))
    const context = { ...pipeline.context, jobs: ledger.jobs, serviceIdentity: 'farm' }
    const workers: FarmWorker[] = []
    onTestFinished(async () => {
      for (const worker of workers) await worker.kill()
      await pipeline.close()
      await ledger.close()
      await server.close()
      await folder.remove()
    })
    await mkdir(folder.file('out'))
    const queue = async (name: string): Promise<Job> => {
      const input = folder.file(name)
      await writeFile(input, tinyWave(0))
      const { settings } = requestFor(input)
      return (await queueJob({ input, output: `${folder.file('out')}/`, settings, group: name }, context)).job
    }
    const done = (job: Job) => until(async () => (await ledger.jobs.get(job.id))?.status === 'done')
    const outputs = async () => (await readdir(folder.file('out'))).sort()
    return {
      server,
      ledger,
      outputs,
      queue,
      done,
      store,
      start: (url = store) => {
        const settings = { client: server.clientOptions, folder: folder.path, concurrency: 2, leaseMs: 60_000 }
        const worker = startWorker({ ...settings, store: url, kind: 'real' })
        workers.push(worker)
        return worker
      },
      /** As if a minute went by without a word of whoever holds a lease. */
      leasesRunOut: async () => {
        for (const table of ['jobs', 'voices'])
          postgres().query(`UPDATE voxmux.ledger_${table} SET lease_expires_ms = 1 WHERE lease_token IS NOT NULL`, name)
      },
      /** What one has published stays as it is, though another that had the job before goes on. */
      nothingChanges: async (job: Job, other: FarmWorker) => {
        const entry = await ledger.jobs.get(job.id)
        const published = await stat(entry?.output ?? '')
        const before = (await outputs()).filter(isVisible)
        // That it does the next job says that it is done with this one, whichever way.
        const next = await queue('next.wav')
        await done(next)
        await until(async () => (await ledger.jobs.list({ statuses: ['working', 'queued'] })).length === 0)
        await other.kill('SIGTERM')
        const now = await stat(entry?.output ?? '')
        expect([now.ino, now.mtimeMs, now.size]).toEqual([published.ino, published.mtimeMs, published.size])
        expect(await ledger.jobs.get(job.id)).toEqual(entry)
        expect(await outputs()).toEqual([...before, 'next.regen.wav', 'next.regen.wav.voxmux.json'])
      },
    }
  }

  // The next test freezes one as well.
  it.each(process.env.VOXMUX_SOAK ? ['cut off the network', 'frozen'] : ['cut off the network'])(
    '(%s): another takes the job up by its file id, and the first can publish nothing',
    { timeout: LONG_MS },
    async (how) => {
      const { server, ledger, store, start, queue, leasesRunOut, done, nothingChanges } = await farm()
      const proxy = await proxyTo(store)
      const first = start(proxy.url)
      const job = await queue('clip.wav')
      await first.saying(/process 50/)
      if (how === 'frozen') first.child.kill('SIGSTOP')
      else proxy.cut()
      await leasesRunOut()

      const second = start()
      await second.saying(/process 50/)
      expect(await ledger.jobs.get(job.id)).toMatchObject({ attempts: 2, holder: { pid: second.child.pid } })
      expect(server.files).toHaveLength(1)
      server.behaviour.states = ENDED
      await done(job)
      await second.kill()

      // The first one is back.
      if (how === 'frozen') first.child.kill('SIGCONT')
      else proxy.heal()
      await nothingChanges(job, first)
      expect(server.charges).toBe(1)
      expect(server.calls.startProcess).toBe(1)
    },
  )

  it('(frozen with its part as good as whole): publishes nothing, for another has the job', {
    timeout: LONG_MS,
  }, async () => {
    const { server, start, queue, leasesRunOut, done, ledger, outputs } = await farm()
    server.behaviour.states = ENDED
    const first = start()
    // One that is through before it is caught is no case: the next one.
    for (let take = 0; ; take += 1) {
      const job = await queue(`take${take}.wav`)
      await first.saying(new RegExp(`^mux \\d+ take${take}\\.wav`, 'm'))
      first.child.kill('SIGSTOP')
      const before = (await outputs()).filter(isVisible)
      if ((await ledger.jobs.get(job.id))?.publishedSha256 === null) {
        await leasesRunOut()
        const other = await claimed(ledger.jobs, job.key)
        first.child.kill('SIGCONT')
        // Its part is gone: it is done with it, whichever way.
        await until(async () => (await outputs()).every(isVisible))
        expect(await outputs()).toEqual(before)
        await ledger.jobs.putBack(other)
        await done(job)
        expect(server.calls.startProcess).toBe(1)
        return
      }
      first.child.kill('SIGCONT')
      await done(job)
    }
  })
})
