import { execFileSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type Logger, silentLogger } from '../../src/core/logger.js'
import { type Job, openSharedLedger } from '../../src/ledger/index.js'
import { proxyTo } from '../helpers/system/network-proxy.js'
import { describeOnPostgres, PostgresServer } from '../helpers/system/postgres-server.js'
import { until } from '../helpers/until.js'
import { claimed, enqueueAll, request } from './store-fixture.js'

const NO_DISK = process.getuid?.() === 0 ? null : 'only root may mount a small disk'
if (NO_DISK !== null) process.stderr.write(`Skipped: a PostgreSQL whose disk is full: ${NO_DISK}\n`)

describeOnPostgres('a PostgreSQL in trouble', (server) => {
  async function opened(patienceMs = 60_000, url = server().newDatabase()) {
    const said: string[] = []
    const logger: Logger = { ...silentLogger, warn: (_fields, message) => said.push(message) }
    const ledger = await openSharedLedger(url, { patienceMs, logger })
    onTestFinished(() => ledger.close())
    return { ...ledger, said }
  }

  /** Puts the jobs on a disk of their own. @returns what fills it, and empties it again */
  function onSmallDisk(own: PostgresServer) {
    const folder = mkdtempSync(join(tmpdir(), 'voxmux-disk-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'none', folder])
    chownSync(folder, 65_534, 65_534)
    own.query(`CREATE TABLESPACE small LOCATION '${folder}'`)
    own.query('ALTER TABLE voxmux.ledger_jobs SET TABLESPACE small')
    onTestFinished(() => {
      execFileSync('umount', ['-l', folder])
      rmSync(folder, { recursive: true })
    })
    const filler = join(folder, 'filler')
    return {
      fill: () => {
        const { bavail, bsize } = statfsSync(folder)
        writeFileSync(filler, Buffer.alloc(bavail * bsize, 1))
      },
      empty: () => rmSync(filler),
    }
  }

  it.skipIf(NO_DISK)('(full) is waited for, and nothing that it had taken is gone', async () => {
    const own = await PostgresServer.start()
    onTestFinished(() => own.stop())
    const { jobs, said } = await opened(60_000, own.url)
    await jobs.enqueue(request('before'))
    const disk = onSmallDisk(own)
    disk.fill()
    const state = { text: 'x'.repeat(1500) }
    const requests = Array.from({ length: 50 }, (_, n) => request(`k${n}`, { state }))
    const enqueued = enqueueAll(jobs, requests)
    await until(() => said.length > 0)
    disk.empty()
    expect(await enqueued).toBe(50)
    expect(await jobs.list({ limit: 100 })).toHaveLength(51)
    expect(said).toEqual([
      'The job store has no space left: PostgreSQL accepts no more writes. Retrying.',
      'The job store responds again.',
    ])
  })

  it('(without a free connection) is waited for', async () => {
    const { jobs, said } = await opened()
    const end = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity'
    server().query(`ALTER ROLE voxmux CONNECTION LIMIT 0; ${end} WHERE usename = 'voxmux'`)
    const enqueued = jobs.enqueue(request('k'))
    await until(() => said.length > 0)
    server().query('ALTER ROLE voxmux CONNECTION LIMIT -1')
    expect(await enqueued).toMatchObject({ created: true })
  })

  it('(with faults between answers) is logged once, not at each of them', async () => {
    const { jobs, said } = await opened()
    const limitedTo = (connections: number) =>
      server().query(
        `ALTER ROLE voxmux CONNECTION LIMIT ${connections};
         SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'voxmux'`,
      )
    for (let round = 0; round < 5; round += 1) {
      limitedTo(0)
      const enqueued = jobs.enqueue(request(`k${round}`))
      await new Promise((resolve) => setTimeout(resolve, 200))
      limitedTo(-1)
      await enqueued
    }
    expect(said.filter((text) => text.includes('no free connection'))).toHaveLength(1)
    expect(said.length).toBeLessThanOrEqual(4)
  })

  it('(killed and started again) has all that it acknowledged, and is gone on with', async () => {
    const { jobs, voices } = await opened()
    await enqueueAll(
      jobs,
      Array.from({ length: 50 }, (_, n) => request(`k${n}`)),
    )
    const { lease } = await claimed(jobs, 'k7')
    const voice = await voices.claim('v')
    if (voice.outcome !== 'claimed') throw new Error('held')
    await voices.advance(voice.lease, { status: 'registering' })
    await server().kill()
    // Asked while it is away: done once when it is back.
    const registered = voices.advance(voice.lease, { status: 'registered', fileId: 'f' })
    const written = jobs.checkpoint(lease, { state: { step: 2 } })
    await server().start()
    expect(await registered).toMatchObject({ status: 'registered', attempts: [{ fileId: 'f' }] })
    expect(await written).toMatchObject({ key: 'k7', status: 'working', state: { step: 2 } })
    expect(await jobs.list({ statuses: ['queued'], limit: 100 })).toHaveLength(49)
    expect(await jobs.complete(lease, { status: 'done' })).toMatchObject({ attempts: 1 })
  })

  it('(frozen) is waited for', async () => {
    const { jobs } = await opened()
    server().freeze()
    const enqueued = jobs.enqueue(request('k'))
    await new Promise((resolve) => setTimeout(resolve, 300))
    server().thaw()
    expect(await enqueued).toMatchObject({ created: true })
  })

  it.each(['claimNext', 'claim'] as const)('(cut off as it answers a %s) gives the same job', async (how) => {
    const url = server().newDatabase()
    const network = await proxyTo(url)
    const { jobs } = await opened(60_000, network.url)
    await enqueueAll(jobs, [request('a'), request('b')])
    network.loseAnswerTo('COMMIT')
    const claim = how === 'claim' ? await claimed(jobs, 'a') : await jobs.claimNext()
    if (claim === null) throw new Error('Nothing is free.')
    expect(claim.job).toMatchObject({ key: 'a', attempts: 1 })
    expect(await jobs.counts()).toEqual([
      { group: 'folder', status: 'queued', count: 1 },
      { group: 'folder', status: 'working', count: 1 },
    ])
    network.loseAnswerTo('COMMIT')
    expect(await jobs.complete(claim.lease, { status: 'done' })).toMatchObject({ key: 'a', status: 'done' })
    expect((await jobs.claimNext())?.job.key).toBe('b')
  })

  it('(away for longer than anybody waits) has nothing taken by those who gave up', async () => {
    const { jobs } = await opened(300)
    await enqueueAll(
      jobs,
      ['a', 'b', 'c', 'd'].map((key) => request(key)),
    )
    await server().kill()
    for (let round = 0; round < 3; round += 1)
      await expect(jobs.claimNext()).rejects.toMatchObject({ code: 'ERR_STORE_UNREACHABLE', exitCode: 4 })
    await server().start()
    const taken: Job[] = []
    for (let job = 0; job < 4; job += 1)
      await until(async () => {
        const claim = await jobs.claimNext().catch(() => null)
        if (claim) taken.push(claim.job)
        return claim !== null
      })
    expect(taken.map(({ key, attempts }) => [key, attempts])).toEqual([...'abcd'].map((key) => [key, 1]))
  })

  it('wakes a worker of another process for each job that becomes ready', async () => {
    const url = server().newDatabase()
    const [here, there] = [await opened(60_000, url), await opened(60_000, url)]
    let woken = 0
    const watch = await here.jobs.watch(() => {
      woken += 1
    })
    expect(await here.jobs.claimNext()).toBeNull()
    await until(() => watch.waitMs(100) > 100)
    await there.jobs.enqueue(request('k'))
    await until(() => woken === 1)
    const { lease } = await claimed(there.jobs, 'k')
    await there.jobs.release(lease, { status: 'queued' })
    await until(() => woken === 2)
    await there.jobs.pause(null, 'wait')
    await there.jobs.resume(null)
    await until(() => woken === 3)
    // What comes of itself is searched for when its time comes.
    await there.jobs.retryAt((await claimed(there.jobs, 'k')).lease, Date.now() + 2000, {
      ...{ code: 'ERR_SERVICE_BUSY', errorCode: null, name: null, message: 'Busy.', remedies: [] },
    })
    expect(await here.jobs.claimNext()).toBeNull()
    expect(watch.waitMs(1)).toBeLessThanOrEqual(2000)
    await watch.stop()
  })
})
