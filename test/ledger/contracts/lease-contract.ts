import { describe, expect, it } from 'vitest'
import { DEFAULT_LEASE_MS } from '../../../src/ledger/jobs/job-store.js'
import { claimed, eachWith, report, request, type StoreFixture } from '../store-fixture.js'

const LOST = expect.objectContaining({ code: 'ERR_LEASE_LOST', exitCode: 4 })

/** What a store has to hold about leases, checkpoints and retries. */
export function describeLeases(name: string, make: () => Promise<StoreFixture>): void {
  describe(`${name}: leases`, () => {
    const fixture = eachWith(make)

    it('frees a lease when its time is up, and not before', async () => {
      await fixture.one.enqueue(request('k'))
      const { lease } = await claimed(fixture.one, 'k')
      fixture.advance(DEFAULT_LEASE_MS - 1)
      expect(await fixture.other.claim('k')).toMatchObject({ outcome: 'held' })
      fixture.advance(1)
      const taken = await claimed(fixture.other, 'k')
      expect(taken.job.attempts).toBe(2)
      await expect(fixture.one.heartbeat(lease)).rejects.toEqual(LOST)
      await expect(fixture.one.checkpoint(lease, { state: { mine: true } })).rejects.toEqual(LOST)
      await expect(fixture.one.complete(lease, { status: 'done' })).rejects.toEqual(LOST)
      await expect(fixture.one.fail(lease, { status: 'failed', error: report })).rejects.toEqual(LOST)
      await expect(fixture.one.retryAt(lease, fixture.now(), report)).rejects.toEqual(LOST)
      await expect(fixture.one.release(lease, { status: 'queued' })).rejects.toEqual(LOST)
      expect(await fixture.other.get(taken.job.id)).toEqual(taken.job)
      await fixture.other.complete(taken.lease, { status: 'done', receipt: '/out/k.voxmux.json' })
      expect(await fixture.one.getByKey('k')).toMatchObject({
        status: 'done',
        receipt: '/out/k.voxmux.json',
        holder: null,
      })
    })

    it('lets jobs of one input with one recipe alone make an output, until the lease ends', async () => {
      for (const key of ['a', 'b']) await fixture.one.enqueue(request(key))
      await fixture.one.enqueue(request('newer-a', { input: '/in/a.mov' }))
      await fixture.one.enqueue(request('other-a', { input: '/in/a.mov', recipeHash: 'other' }))
      const { lease } = await claimed(fixture.one, 'a')
      const { lease: other } = await claimed(fixture.other, 'b')
      expect(await fixture.one.takeOutput(lease, '/out/x.mov')).toBeNull()
      expect(await fixture.one.takeOutput(lease, '/out/x.mov')).toBeNull()
      expect(await fixture.other.takeOutput(other, '/out/x.mov')).toBe('/in/a.mov')
      expect(await fixture.other.takeOutput(other, '/out/y.mov')).toBeNull()

      const { lease: changed } = await claimed(fixture.other, 'other-a')
      expect(await fixture.other.takeOutput(changed, '/out/x.mov')).toBe('/in/a.mov')
      const { lease: newer } = await claimed(fixture.other, 'newer-a')
      expect(await fixture.other.takeOutput(newer, '/out/x.mov')).toBeNull()
      await fixture.one.complete(lease, { status: 'done' })
      expect(await fixture.other.takeOutput(other, '/out/x.mov')).toBe('/in/a.mov')
      await fixture.other.retryAt(newer, fixture.now(), report)
      expect(await fixture.other.takeOutput(other, '/out/x.mov')).toBeNull()

      const { lease: again } = await claimed(fixture.one, 'newer-a')
      expect(await fixture.one.takeOutput(again, '/out/x.mov')).toBe('/in/b.mov')
      fixture.advance(DEFAULT_LEASE_MS)
      expect(await fixture.one.takeOutput(again, '/out/x.mov')).toBeNull()
      await claimed(fixture.other, 'newer-a')
      await expect(fixture.one.takeOutput(again, '/out/x.mov')).rejects.toEqual(LOST)
    })

    it('keeps a lease for as long as there are heartbeats', async () => {
      await fixture.one.enqueue(request('k'))
      const { lease } = await claimed(fixture.one, 'k')
      for (let beat = 0; beat < 5; beat += 1) {
        fixture.advance(30_000)
        await fixture.one.heartbeat(lease)
        expect(await fixture.other.claimNext()).toBeNull()
      }
      await expect(fixture.one.checkpoint(lease, { state: { n: 1 } })).resolves.toMatchObject({ state: { n: 1 } })
    })

    it('lays a checkpoint over the state, property by property', async () => {
      await fixture.one.enqueue(request('k', { state: { a: 1, deep: { x: 1, y: 2 } } }))
      const { lease, job } = await claimed(fixture.one, 'k')
      await fixture.one.checkpoint(lease, { state: { b: null, deep: { x: 9 } } })
      await fixture.one.checkpoint(lease, { status: 'waiting-remote', publishedSha256: 'f00' })
      await fixture.one.checkpoint(lease, {
        inputIdentity: { sizeBytes: 1, mtimeMs: 2, sha256: 'aa' },
        output: '/out/k',
      })
      const stored = await fixture.other.get(job.id)
      expect(stored).toMatchObject({
        status: 'waiting-remote',
        publishedSha256: 'f00',
        inputIdentity: { sizeBytes: 1, mtimeMs: 2, sha256: 'aa' },
        output: '/out/k',
      })
      expect(stored?.state).toEqual({ a: 1, b: null, deep: { x: 9 } })
      expect(await fixture.other.claim('k')).toMatchObject({ outcome: 'held' })
    })

    it('retries when the time has come, remembering why', async () => {
      await fixture.one.enqueue(request('k', { state: { fileId: 'f' } }))
      const { lease } = await claimed(fixture.one, 'k')
      const waiting = await fixture.one.retryAt(lease, fixture.now() + 500, report)
      expect(waiting).toMatchObject({ status: 'queued', error: report, notBeforeMs: fixture.now() + 500, holder: null })
      expect(await fixture.other.claimNext()).toBeNull()
      fixture.advance(500)
      const again = await fixture.other.claimNext()
      expect(again?.job).toMatchObject({ key: 'k', attempts: 2, state: { fileId: 'f' } })
      if (again) await fixture.other.complete(again.lease, { status: 'done' })
      expect(await fixture.one.getByKey('k')).toMatchObject({ status: 'done', error: null })
    })

    it('waits for no time of before when the clock is set back, but for one that was ordered', async () => {
      const hourMs = 3_600_000
      await fixture.one.enqueue(request('ordered', { notBeforeMs: fixture.now() + hourMs }))
      await fixture.one.enqueue(request('failed'))
      await fixture.one.enqueue(request('remote'))
      await fixture.one.enqueue(request('kept'))
      for (let count = 0; count < 3; count++) {
        const claim = await fixture.one.claimNext()
        if (claim?.job.key === 'failed') await fixture.one.retryAt(claim.lease, fixture.now() + hourMs / 6, report)
        else if (claim?.job.key === 'remote')
          await fixture.one.release(claim.lease, { status: 'waiting-remote', notBeforeMs: fixture.now() + 5000 })
        // A process of its own keeps it from all others.
        else if (claim) await fixture.one.release(claim.lease, { status: 'queued', notBeforeMs: 4e12 })
      }
      expect(await fixture.one.claimNext()).toBeNull()
      fixture.advance(-5 * hourMs)
      const due = [await fixture.other.claimNext(), await fixture.one.claimNext()]
      expect(due.map((claim) => claim?.job.key).sort()).toEqual(['failed', 'remote'])
      expect(due.map((claim) => claim?.job.notBeforeMs)).toEqual([null, null])
      expect(await fixture.one.claimNext()).toBeNull()
      expect(await fixture.other.claimNext()).toBeNull()
      expect(await fixture.one.getByKey('ordered')).toMatchObject({ notBeforeMs: fixture.now() + 6 * hourMs })
    })

    it('lets a job that goes on remotely be taken up by another', async () => {
      await fixture.one.enqueue(request('k'))
      const { lease } = await claimed(fixture.one, 'k')
      await fixture.one.release(lease, { status: 'waiting-remote', notBeforeMs: fixture.now() + 10 })
      expect(await fixture.one.getByKey('k')).toMatchObject({ status: 'waiting-remote', holder: null })
      expect(await fixture.other.claimNext()).toBeNull()
      fixture.advance(10)
      expect((await fixture.other.claimNext())?.job).toMatchObject({ key: 'k', attempts: 2 })
    })

    it('queues an ended job again, its state kept', async () => {
      await fixture.one.enqueue(request('k', { state: { fileId: 'f' } }))
      const first = await claimed(fixture.one, 'k')
      await fixture.one.fail(first.lease, { status: 'failed', error: report })
      const again = await fixture.other.requeue(first.job.id)
      expect(again).toMatchObject({ status: 'queued', attempts: 0, state: { fileId: 'f' }, error: report })
      const next = await fixture.one.claimNext()
      expect(next?.job.key).toBe('k')
      expect(await fixture.other.requeue(first.job.id)).toMatchObject({ status: 'working' })
      if (next) await expect(fixture.one.heartbeat(next.lease)).resolves.toBeUndefined()
      expect(await fixture.other.requeue('no such id')).toBeNull()
    })
  })
}
