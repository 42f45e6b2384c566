import { copyFile, mkdir, readdir, stat } from 'node:fs/promises'
import { Redis } from 'ioredis'
import { expect, it, onTestFinished } from 'vitest'
import { type Job, openSharedLedger } from '../../src/jobs/index.js'
import { queueJob } from '../../src/pipeline/queue-job.js'
import { FaultServer } from '../helpers/fault-server.js'
import { fixture } from '../helpers/job-bench.js'
import { testFolder } from '../helpers/media-factory.js'
import { proxyTo } from '../helpers/network-proxy.js'
import { openTestPipeline, requestFor } from '../helpers/test-pipeline.js'
import { until } from '../helpers/until.js'
import { describeOnRedis } from '../jobs/redis-fixture.js'
import { type FarmWorker, startWorker } from './farm.js'

const RUNNING = [{ status: 'InProgress', errorCode: 0, progress: 50 }] as const
const ENDED = [{ status: 'Succeeded', errorCode: 0, progress: 100 }] as const

describeOnRedis('a worker that is out of reach in the middle of a job', (redis) => {
  /** A store, a service that does not come to an end yet, and workers between them. */
  async function farm() {
    const client = new Redis(redis().url)
    // A service of its own knows nothing of the voices of the one before.
    await client.flushall()
    const server = await FaultServer.start({ states: RUNNING })
    const folder = await testFolder()
    const ledger = await openSharedLedger(redis().url)
    const pipeline = await openTestPipeline(server, folder.file('state'))
    const context = { ...pipeline.context, jobs: ledger.jobs, serviceIdentity: 'farm' }
    const workers: FarmWorker[] = []
    onTestFinished(async () => {
      for (const worker of workers) await worker.kill()
      client.disconnect()
      await pipeline.close()
      await ledger.close()
      await server.close()
      await folder.remove()
    })
    await mkdir(folder.file('out'))
    return {
      server,
      folder,
      ledger,
      start: (store = redis().url) => {
        const settings = { client: server.clientOptions, folder: folder.path, concurrency: 2, leaseMs: 60_000 }
        const worker = startWorker({ ...settings, store, kind: 'real' })
        workers.push(worker)
        return worker
      },
      queue: async (name: string): Promise<Job> => {
        const input = folder.file(name)
        await copyFile(fixture('speech.wav'), input)
        const { settings } = requestFor(input)
        return (await queueJob({ input, output: `${folder.file('out')}/`, settings, group: name }, context)).job
      },
      /** As if a minute went by without a word of whoever holds a lease. */
      leasesRunOut: async () => {
        for (const id of await client.zrange('{voxmux}:own:leases', 0, -1))
          await client.zadd('{voxmux}:own:leases', 1, id)
        for (const key of await client.keys('{voxmux}:own:voice:*')) await client.hset(key, 'expires', 1)
      },
      done: (job: Job) => until(async () => (await ledger.jobs.get(job.id))?.status === 'done'),
    }
  }

  it.each(['cut off the network', 'frozen'])(
    '(%s): another takes the job up by its file id, and the first can publish nothing',
    async (how) => {
      const { server, folder, ledger, start, queue, leasesRunOut, done } = await farm()
      const proxy = await proxyTo(redis().port)
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
      const output = folder.file('out/clip.regen.wav')
      const published = await stat(output)
      const entry = await ledger.jobs.get(job.id)
      await second.kill()

      // The first one is back. That it does the next job says that it is done with this one, whichever way.
      if (how === 'frozen') first.child.kill('SIGCONT')
      else proxy.heal()
      const next = await queue('next.wav')
      await done(next)
      await until(async () => (await ledger.jobs.list({ statuses: ['working', 'queued'] })).length === 0)
      await first.kill('SIGTERM')

      const now = await stat(output)
      expect([now.ino, now.mtimeMs, now.size]).toEqual([published.ino, published.mtimeMs, published.size])
      expect(await ledger.jobs.get(job.id)).toEqual(entry)
      expect((await readdir(folder.file('out'))).sort()).toEqual([
        'clip.regen.wav',
        'clip.regen.wav.voxmux.json',
        'next.regen.wav',
        'next.regen.wav.voxmux.json',
      ])
      expect(server.charges).toBe(1)
      expect(server.calls.startProcess).toBe(1)
    },
  )
})
