import { describe, expect, it } from 'vitest'
import type { ErrorReport } from '../../../src/core/errors.js'
import type { JobRequest, JobStore } from '../../../src/ledger/index.js'
import type { ExpediteFilter } from '../../../src/ledger/jobs/job-store.js'
import { claimed, eachWith, enqueueAll, report, request, type StoreFixture } from '../store-fixture.js'
import { describeLeases } from './lease-contract.js'

/** What every job store has to hold, whatever it is built on. */
export function describeJobStore(name: string, make: () => Promise<StoreFixture>): void {
  describeLeases(name, make)

  describe(`${name}: the queue`, () => {
    const fixture = eachWith(make)

    it('keeps all that was asked for, and fills in the rest', async () => {
      const full: Required<JobRequest> = {
        key: 'k',
        group: 'g',
        priority: 3,
        notBeforeMs: fixture.now() + 5,
        input: '/in/ü\n"x".mov',
        inputIdentity: { sizeBytes: 2 ** 40, mtimeMs: 1.5, sha256: null },
        output: '/out/x.mov',
        recipeHash: 'abc',
        preset: 'podcast',
        state: { step: 'cut', nested: { list: [1, null, 'x'] } },
      }
      const { job, created } = await fixture.one.enqueue(full)
      expect(created).toBe(true)
      expect(job).toMatchObject({ ...full, status: 'queued', attempts: 0, error: null, receipt: null, holder: null })
      expect(await fixture.other.get(job.id)).toEqual(job)
      expect(await fixture.other.getByKey('k')).toEqual(job)
      expect((await fixture.one.enqueue(request('plain'))).job).toMatchObject({
        priority: 0,
        notBeforeMs: null,
        inputIdentity: null,
        output: null,
        recipeHash: '',
        preset: null,
        state: {},
        publishedSha256: null,
      })
    })

    it('enqueues a key once, whatever became of it', async () => {
      const { job } = await fixture.one.enqueue(request('k', { priority: 1 }))
      const again = await fixture.other.enqueue(request('k', { priority: 9, input: '/else' }))
      expect(again).toEqual({ job, created: false })
      const { lease } = await claimed(fixture.one, 'k')
      await fixture.one.complete(lease, { status: 'done' })
      expect(await fixture.other.enqueue(request('k'))).toMatchObject({
        created: false,
        job: { id: job.id, status: 'done' },
      })
      expect(await enqueueAll(fixture.one, [request('k'), request('a'), request('b'), request('a')])).toBe(2)
    })

    it('lets a job follow its input to another name', async () => {
      await fixture.one.enqueue(request('k'))
      const { job, lease } = await claimed(fixture.one, 'k')
      await fixture.one.checkpoint(lease, { input: '/in/renamed.mov' })
      expect(await fixture.other.list({ input: '/in/renamed.mov' })).toMatchObject([{ key: 'k', status: 'working' }])
      expect(await fixture.other.list({ input: job.input })).toEqual([])
    })

    it('gives a job to one worker only', async () => {
      await fixture.one.enqueue(request('k'))
      const { lease, job } = await claimed(fixture.one, 'k')
      expect(job).toMatchObject({ status: 'working', attempts: 1, holder: { pid: expect.any(Number) } })
      expect(lease).toMatchObject({ jobId: job.id, token: expect.any(String) })
      expect(await fixture.other.claim('k')).toMatchObject({ outcome: 'held', job: { id: job.id } })
      expect(await fixture.one.claim('k')).toMatchObject({ outcome: 'held' })
      expect(await fixture.other.claimNext()).toBeNull()
      expect(await fixture.other.claim('nothing')).toEqual({ outcome: 'unknown' })
    })

    it('tells an ended job from a held one', async () => {
      await fixture.one.enqueue(request('k'))
      const { lease } = await claimed(fixture.one, 'k')
      await fixture.one.fail(lease, { status: 'rejected', error: report })
      expect(await fixture.other.claim('k')).toMatchObject({
        outcome: 'ended',
        job: { status: 'rejected', error: report },
      })
    })

    it('hands out by priority, and takes the oldest first', async () => {
      const wanted = [
        ['a', 0],
        ['b', 5],
        ['c', 0],
        ['d', 5],
        ['e', -1],
      ] as const
      for (const [key, priority] of wanted) await fixture.one.enqueue(request(key, { priority }))
      const order: (string | undefined)[] = []
      for (let n = 0; n < 6; n += 1) order.push((await (n % 2 ? fixture.one : fixture.other).claimNext())?.job.key)
      expect(order).toEqual(['b', 'd', 'a', 'c', 'e', undefined])
    })

    it('takes turns between groups, whatever their length', async () => {
      await enqueueAll(
        fixture.one,
        ['a1', 'a2', 'a3', 'a4', 'a5'].map((key) => request(key, { group: 'a' })),
      )
      await enqueueAll(
        fixture.one,
        ['b1', 'b2'].map((key) => request(key, { group: 'b' })),
      )
      await fixture.one.enqueue(request('c1', { group: 'c' }))
      const order: string[] = []
      for (let next = await fixture.one.claimNext(); next; next = await fixture.other.claimNext())
        order.push(next.job.group)
      expect(order.slice(0, 3).sort()).toEqual(['a', 'b', 'c'])
      expect(order.slice(3, 5).sort()).toEqual(['a', 'b'])
      expect(order.slice(5)).toEqual(['a', 'a', 'a'])
    })

    it('serves only the groups asked for', async () => {
      await fixture.one.enqueue(request('a', { group: 'a', priority: 9 }))
      await fixture.one.enqueue(request('b', { group: 'b' }))
      expect((await fixture.one.claimNext({ groups: ['b', 'none'] }))?.job.key).toBe('b')
      expect(await fixture.one.claimNext({ groups: ['b'] })).toBeNull()
      expect(await fixture.one.claimNext({ groups: [] })).toBeNull()
    })

    it('leaves groups out, and takes a claim back as if it had not been', async () => {
      await fixture.one.enqueue(request('a', { group: 'a', priority: 9 }))
      await fixture.one.enqueue(request('b', { group: 'b' }))
      const claim = await fixture.one.claimNext()
      if (!claim) throw new Error('nothing')
      await fixture.one.putBack(claim)
      await expect(fixture.one.heartbeat(claim.lease)).rejects.toMatchObject({ code: 'ERR_LEASE_LOST' })
      expect(await fixture.other.getByKey('a')).toMatchObject({ status: 'queued', attempts: 0, holder: null })
      expect((await fixture.one.claimNext({ exceptGroups: ['a'] }))?.job.key).toBe('b')
      expect(await fixture.one.claimNext({ exceptGroups: ['a'] })).toBeNull()
      expect(await fixture.one.claimNext({ groups: ['a'], exceptGroups: ['a'] })).toBeNull()
      expect((await fixture.other.claimNext())?.job).toMatchObject({ key: 'a', attempts: 1 })
    })

    it('holds back what is not due, except from whoever asks for that very job', async () => {
      await fixture.one.enqueue(request('later', { notBeforeMs: fixture.now() + 1000 }))
      expect(await fixture.one.claimNext()).toBeNull()
      fixture.advance(999)
      expect(await fixture.one.claimNext()).toBeNull()
      fixture.advance(1)
      expect((await fixture.one.claimNext())?.job).toMatchObject({ key: 'later', notBeforeMs: null })
      await fixture.one.enqueue(request('asked', { notBeforeMs: fixture.now() + 1000 }))
      expect(await fixture.one.claim('asked')).toMatchObject({ outcome: 'claimed' })
    })

    it('makes a waiting job ready at once when asked', async () => {
      const { job } = await fixture.one.enqueue(request('k', { notBeforeMs: fixture.now() + 99_000 }))
      await fixture.other.requeue(job.id)
      expect((await fixture.one.claimNext())?.job.id).toBe(job.id)
    })

    it('expedites those that wait for another try after certain faults, the soonest first, and no others', async () => {
      const away: ErrorReport = { ...report, code: 'ERR_SERVICE_UNREACHABLE' }
      const putOff = async (key: string, delayMs: number, error: ErrorReport, group = 'a') => {
        await fixture.one.enqueue(request(key, { group }))
        const { lease } = await claimed(fixture.one, key)
        await fixture.one.retryAt(lease, fixture.now() + delayMs, error)
      }
      await putOff('late', 300_000, away)
      await putOff('soon', 200_000, report)
      await putOff('other fault', 100_000, { ...report, code: 'ERR_DISK_FULL' })
      await putOff('other group', 50_000, away, 'b')
      await putOff('somebody’s own', 3e12, away)
      await fixture.one.enqueue(request('ordered', { group: 'a', notBeforeMs: fixture.now() + 1000 }))
      fixture.advance(10)
      await putOff('just now', 10_000, away)
      const codes = [away.code, report.code]
      const expedite = (more: Partial<ExpediteFilter>) =>
        fixture.other.expedite({ codes, limit: 9, groups: ['a'], ...more })
      const next = async () => (await fixture.one.claimNext())?.job
      expect(await expedite({ codes: ['ERR_NONE'] })).toBe(0)
      expect(await expedite({ limit: 1, putOffForMs: 10 })).toBe(1)
      expect(await next()).toMatchObject({ key: 'soon', attempts: 2, notBeforeMs: null })
      await fixture.one.pause('a', 'offline')
      expect(await expedite({})).toBe(0)
      await fixture.one.resume('a')
      expect(await expedite({})).toBe(2)
      expect([(await next())?.key, (await next())?.key].sort()).toEqual(['just now', 'late'])
      expect(await next()).toBeUndefined()
      await fixture.one.pause(null, 'no credits')
      expect(await fixture.other.expedite({ codes, limit: 9 })).toBe(0)
      await fixture.one.resume(null)
      expect(await fixture.other.expedite({ codes, limit: 9 })).toBe(1)
      expect((await next())?.key).toBe('other group')
    })

    it('cancels a job that has not ended, and takes it from whoever works on it', async () => {
      const { job } = await fixture.one.enqueue(request('k'))
      const { lease } = await claimed(fixture.one, 'k')
      const cancelled = { status: 'failed', error: report, holder: null, notBeforeMs: null }
      expect(await fixture.other.cancel(job.id, report)).toMatchObject(cancelled)
      const late = [
        () => fixture.one.checkpoint(lease, { output: '/out' }),
        () => fixture.one.complete(lease, { status: 'done' }),
      ]
      for (const change of late) await expect(change()).rejects.toMatchObject({ code: 'ERR_LEASE_LOST' })
      expect(await fixture.one.claimNext()).toBeNull()
      expect(await fixture.one.cancel(job.id, report)).toBeNull()
      expect(await fixture.one.cancel('nothing', report)).toBeNull()
      await fixture.one.requeue(job.id)
      const again = await claimed(fixture.one, 'k')
      await fixture.one.retryAt(again.lease, fixture.now() + 1000, report)
      expect(await fixture.one.cancel(job.id, report)).toMatchObject(cancelled)
      fixture.advance(1000)
      expect(await fixture.one.claimNext()).toBeNull()
    })

    it('forgets a job unless somebody works on it', async () => {
      const { job } = await fixture.one.enqueue(request('k'))
      const { lease } = await claimed(fixture.one, 'k')
      expect(await fixture.other.forget(job.id)).toBe(false)
      await fixture.one.complete(lease, { status: 'skipped' })
      expect(await fixture.other.forget(job.id)).toBe(true)
      expect(await fixture.other.forget(job.id)).toBe(false)
      expect(await fixture.one.get(job.id)).toBeNull()
      expect(await fixture.one.enqueue(request('k'))).toMatchObject({ created: true })
    })

    it('forgets what ended long ago, and nothing else', async () => {
      await enqueueAll(fixture.one, [request('old'), request('new'), request('open')])
      await fixture.one.complete((await claimed(fixture.one, 'old')).lease, { status: 'done' })
      fixture.advance(1000)
      await fixture.one.fail((await claimed(fixture.one, 'new')).lease, { status: 'failed', error: report })
      expect(await fixture.other.forgetEnded(fixture.now())).toBe(1)
      expect((await fixture.one.list()).map((job) => job.key).sort()).toEqual(['new', 'open'])
    })

    it('pauses one group or all', async () => {
      await fixture.one.enqueue(request('a', { group: 'a' }))
      await fixture.one.enqueue(request('b', { group: 'b' }))
      await fixture.one.pause('a', 'The folder is offline.')
      const sinceMs = fixture.now()
      fixture.advance(1)
      await fixture.one.pause(null, 'No credits.')
      expect(await fixture.other.claimNext()).toBeNull()
      expect(await fixture.other.pauses()).toEqual([
        { group: 'a', reason: 'The folder is offline.', sinceMs },
        { group: null, reason: 'No credits.', sinceMs: sinceMs + 1 },
      ])
      await fixture.other.resume(null)
      expect((await fixture.other.claimNext())?.job.key).toBe('b')
      expect(await fixture.other.claimNext()).toBeNull()
      expect(await fixture.one.claim('a')).toMatchObject({ outcome: 'claimed' })
      await fixture.one.resume('a')
      expect(await fixture.one.pauses()).toEqual([])
    })

    it('lists newest first, by filter and page by page', async () => {
      for (let n = 0; n < 7; n += 1) await fixture.one.enqueue(request(`k${n}`, { group: n % 2 ? 'odd' : 'even' }))
      await fixture.one.complete((await claimed(fixture.one, 'k3')).lease, { status: 'done' })
      const keys = async (filter: Parameters<JobStore['list']>[0]) =>
        (await fixture.other.list(filter)).map((job) => job.key)
      expect(await keys({})).toEqual(['k6', 'k5', 'k4', 'k3', 'k2', 'k1', 'k0'])
      expect(await keys({ group: 'odd' })).toEqual(['k5', 'k3', 'k1'])
      expect(await keys({ group: 'odd', statuses: ['queued'] })).toEqual(['k5', 'k1'])
      expect(await keys({ statuses: ['done', 'failed'] })).toEqual(['k3'])
      expect(await keys({ statuses: [] })).toEqual([])
      expect(await keys({ input: '/in/k2.mov' })).toEqual(['k2'])
      const page = await fixture.other.list({ limit: 3 })
      const before = page.at(-1)?.id ?? ''
      expect(await keys({ limit: 3, before })).toEqual(['k3', 'k2', 'k1'])
    })

    it('counts by group and status', async () => {
      await enqueueAll(fixture.one, [
        request('a', { group: 'x' }),
        request('b', { group: 'x' }),
        request('c', { group: 'y' }),
      ])
      await claimed(fixture.one, 'a')
      const counts = await fixture.other.counts()
      expect(counts).toHaveLength(3)
      expect(counts).toEqual(
        expect.arrayContaining([
          { group: 'x', status: 'working', count: 1 },
          { group: 'x', status: 'queued', count: 1 },
          { group: 'y', status: 'queued', count: 1 },
        ]),
      )
    })

    it('moves a queued job forward when its priority is raised', async () => {
      await fixture.one.enqueue(request('a'))
      const { job } = await fixture.one.enqueue(request('b'))
      expect(await fixture.other.setPriority(job.id, 10)).toMatchObject({ priority: 10 })
      expect((await fixture.one.claimNext())?.job.key).toBe('b')
      expect(await fixture.one.setPriority('no such id', 1)).toBeNull()
    })
  })
}
