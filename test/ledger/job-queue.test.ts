import { join } from 'node:path'
import Database from 'libsql'
import { expect, it, onTestFinished } from 'vitest'
import { InterruptedError, JobFailedError, PendingError, PrecheckError, TransientError } from '../../src/core/errors.js'
import { silentLogger } from '../../src/core/logger.js'
import { type HeldJob, JobQueue, type JobQueueOptions, type JobStore, openLedger } from '../../src/ledger/index.js'
import { request } from './store-fixture.js'
import { tempFolder } from './temp-folder.js'

async function store(file = join(tempFolder(), 'ledger.db')): Promise<JobStore> {
  const ledger = await openLedger(file)
  onTestFinished(() => ledger.close())
  return ledger.jobs
}

function queue(jobs: JobStore, work: (held: HeldJob) => Promise<void>, more: Partial<JobQueueOptions> = {}): JobQueue {
  const made = new JobQueue({ store: jobs, run: work, concurrency: 2, pollMs: 20, ...more })
  onTestFinished(() => made.stop())
  made.start()
  return made
}

async function until(jobs: JobStore, key: string, status: string): Promise<void> {
  while ((await jobs.getByKey(key))?.status !== status) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** A door that work waits at. */
function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

it('does every job once, and no more than so many at a time', async () => {
  const jobs = await store()
  const done: string[] = []
  const [full, door] = [gate(), gate()]
  const made = queue(jobs, async (held) => {
    done.push(held.job.key)
    if (done.length === 2) full.open()
    await door.opened
  })
  const keys = Array.from({ length: 12 }, (_, n) => `k${n}`)
  for (const key of keys) await made.enqueue(request(key))
  await full.opened
  const statuses = (await jobs.list()).map((job) => job.status)
  expect(statuses.filter((status) => status === 'working')).toHaveLength(2)
  expect(statuses.filter((status) => status === 'queued')).toHaveLength(10)
  door.open()
  for (const key of keys) await until(jobs, key, 'done')
  expect(done.sort()).toEqual(keys.sort())
})

it('wakes at once for what this process enqueues', async () => {
  const jobs = await store()
  const made = queue(jobs, async () => {}, { pollMs: 2 ** 30 })
  await new Promise((resolve) => setTimeout(resolve, 20))
  await made.enqueue(request('k'))
  await until(jobs, 'k', 'done')
})

it('waits for a store that cannot be used, and says so once', async () => {
  const file = join(tempFolder(), 'ledger.db')
  const jobs = await store(file)
  const other = new Database(file)
  onTestFinished(() => void other.close())
  const said: string[] = []
  let faults = 0
  const say = (_: object, message: string) => void said.push(message)
  other.exec('ALTER TABLE jobs RENAME TO away')
  const logger = { ...silentLogger, warn: say, info: say }
  queue(jobs, async () => {}, { logger, onFault: () => void faults++ })
  while (faults < 5) await new Promise((resolve) => setTimeout(resolve, 5))
  other.exec('ALTER TABLE away RENAME TO jobs')
  while (said.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  expect(said).toEqual(['The job store does not respond. Retrying.', 'The job store responds again.'])
})

it('finds what another process enqueued', async () => {
  const file = join(tempFolder(), 'ledger.db')
  const [jobs, elsewhere] = [await store(file), await store(file)]
  queue(jobs, async () => {})
  await elsewhere.enqueue(request('k'))
  await until(jobs, 'k', 'done')
})

it.each([
  [new TransientError('ERR_SERVICE_BUSY', 'Busy.'), 'queued'],
  [new PendingError('ERR_PENDING', 'Goes on.'), 'waiting-remote'],
  [new InterruptedError(), 'queued'],
  [new PrecheckError('ERR_UNREADABLE', 'Unreadable.', { errorCode: -2 }), 'rejected'],
  [new JobFailedError('ERR_FILE_FAILED', 'Failed.', { errorCode: -7 }), 'failed'],
  [new Error('a defect'), 'failed'],
])('ends a job that throws %s as %s', async (error, status) => {
  const jobs = await store()
  const made = queue(
    jobs,
    async () => {
      void made.stop()
      throw error
    },
    { retryDelay: () => 3_600_000 },
  )
  await made.enqueue(request('k'))
  await until(jobs, 'k', status)
  await made.stop()
  const job = await jobs.getByKey('k')
  expect(job).toMatchObject({ status, holder: null, attempts: 1 })
  if (status === 'failed' || status === 'rejected') expect(job?.error?.message).toContain(error.message)
})

it('tries again after a transient fault, and gives up when the delays end', async () => {
  const jobs = await store()
  const delays = [0, 0, null]
  let tries = 0
  const made = queue(
    jobs,
    async () => {
      tries += 1
      throw new TransientError('ERR_SERVICE_BUSY', 'Busy.')
    },
    { retryDelay: (job) => delays[job.attempts - 1] ?? null },
  )
  await made.enqueue(request('k'))
  await until(jobs, 'k', 'failed')
  expect(tries).toBe(3)
  expect(await jobs.getByKey('k')).toMatchObject({ attempts: 3, error: { code: 'ERR_SERVICE_BUSY' } })
})

it('gives back what is in work when it stops', async () => {
  const jobs = await store()
  const begun = gate()
  const made = queue(jobs, async (held) => {
    begun.open()
    await new Promise((_, reject) => held.signal.addEventListener('abort', () => reject(held.signal.reason)))
  })
  await made.enqueue(request('k'))
  await begun.opened
  await made.stop()
  expect(made.running).toBe(0)
  expect(await jobs.getByKey('k')).toMatchObject({ status: 'queued', holder: null, error: null })
})

it('keeps a lease alive that is shorter than the work', async () => {
  const file = join(tempFolder(), 'ledger.db')
  const [jobs, elsewhere] = [await store(file), await store(file)]
  const checked = gate()
  const made = queue(
    jobs,
    async (held) => {
      const { createdMs } = held.job
      // Several leases long: without heartbeats somebody else would get it.
      while (Date.now() < createdMs + 1500) {
        expect(await elsewhere.claim('k')).toMatchObject({ outcome: 'held' })
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      checked.open()
    },
    { leaseMs: 500 },
  )
  await made.enqueue(request('k'))
  await checked.opened
  await until(jobs, 'k', 'done')
})

it('tells the work when its lease is lost, and writes nothing of it any more', async () => {
  const file = join(tempFolder(), 'ledger.db')
  const jobs = await store(file)
  const lost = gate()
  let reason: unknown
  const made = queue(
    jobs,
    async (held) => {
      const told = new Promise<void>((resolve) => held.signal.addEventListener('abort', () => resolve()))
      // Another process, for which this one's lease is over.
      const later = await openLedger(file, { now: () => Date.now() + 3_600_000 })
      const taken = await later.jobs.claim('k')
      expect(taken.outcome).toBe('claimed')
      await later.close()
      await told
      reason = held.signal.reason
      lost.open()
    },
    { leaseMs: 100 },
  )
  await made.enqueue(request('k'))
  await lost.opened
  await made.stop()
  expect(reason).toMatchObject({ code: 'ERR_LEASE_LOST' })
  expect(await jobs.getByKey('k')).toMatchObject({ status: 'working', attempts: 2 })
})

it('does a job again at once if only a voice in it was lost, however long its own lease lasts', async () => {
  const jobs = await store()
  let tries = 0
  const work = async () => {
    tries += 1
    if (tries === 1) throw new TransientError('ERR_LEASE_LOST', 'Another process took over this voice.')
  }
  const made = queue(jobs, work, { leaseMs: 30 * 86_400_000 })
  await made.enqueue(request('k'))
  await until(jobs, 'k', 'done')
  expect(tries).toBe(2)
})

it('cancels a job: its work is told and awaited, and writes nothing of it any more', async () => {
  const jobs = await store()
  const begun = gate()
  let isOver = false
  const made = queue(jobs, async (held) => {
    begun.open()
    await new Promise<void>((resolve) => held.signal.addEventListener('abort', () => resolve()))
    isOver = true
  })
  const { job } = await made.enqueue(request('k'))
  await begun.opened
  const cancelled = await made.cancel(job.id, new JobFailedError('ERR_JOB_CANCELLED', 'no longer wanted'))
  expect([cancelled?.status, isOver]).toEqual(['failed', true])
  expect(await jobs.getByKey('k')).toMatchObject({ status: 'failed', error: { code: 'ERR_JOB_CANCELLED' } })
})

it('lets the work end a job its own way', async () => {
  const jobs = await store()
  const made = queue(jobs, async (held) => {
    await held.checkpoint({ state: { step: 1 } })
    await held.complete({ status: 'skipped', receipt: '/r.json' })
  })
  await made.enqueue(request('k'))
  await until(jobs, 'k', 'skipped')
  expect(await jobs.getByKey('k')).toMatchObject({ state: { step: 1 }, receipt: '/r.json' })
})
