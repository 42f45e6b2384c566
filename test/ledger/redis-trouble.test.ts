import { Redis } from 'ioredis'
import { expect, it, onTestFinished } from 'vitest'
import { type Logger, silentLogger } from '../../src/core/logger.js'
import { inspectSharedStore, type Job, openSharedLedger } from '../../src/ledger/index.js'
import { proxyTo } from '../helpers/system/network-proxy.js'
import { until } from '../helpers/until.js'
import { describeOnRedis } from './redis-fixture.js'
import { claimed, request } from './store-fixture.js'

describeOnRedis('a Redis in trouble', (redis) => {
  async function opened(patienceMs = 60_000, url = redis().url) {
    const said: string[] = []
    const logger: Logger = { ...silentLogger, warn: (_fields, message) => said.push(message) }
    const ledger = await openSharedLedger(url, { patienceMs, logger })
    const client = new Redis(redis().url)
    client.on('error', () => {})
    await client.flushall()
    onTestFinished(async () => {
      client.disconnect()
      await ledger.close()
    })
    return { ...ledger, client, said }
  }

  it('(full) is waited for, and nothing that it had taken is gone', async () => {
    const { jobs, client, said } = await opened()
    await jobs.enqueue(request('before'))
    const { lease } = await claimed(jobs, 'before')
    await client.config('SET', 'maxmemory', '1')
    const enqueued = jobs.enqueue(request('while full'))
    const written = jobs.checkpoint(lease, { state: { step: 1 } })
    await until(() => said.length > 0)
    await client.config('SET', 'maxmemory', '0')
    expect(await enqueued).toMatchObject({ created: true })
    expect(await written).toMatchObject({ state: { step: 1 } })
    expect((await jobs.list()).map(({ key }) => key)).toEqual(['while full', 'before'])
    // Once, however many calls waited, and how often they were made again.
    expect(said.slice(0, 2)).toEqual([
      'The job store has no memory left: Redis accepts no more writes. Retrying.',
      'The job store accepts writes again.',
    ])
  })

  it('(full for longer than anybody waits) says what to do', async () => {
    const { jobs, client } = await opened(300)
    await client.config('SET', 'maxmemory', '1')
    await expect(jobs.enqueue(request('k'))).rejects.toMatchObject({ code: 'ERR_STORE_FULL', exitCode: 4 })
    await client.config('SET', 'maxmemory', '0')
  })

  it('(killed and started again) has all that it acknowledged, and is gone on with', async () => {
    const { jobs, voices } = await opened()
    await jobs.enqueueAll(Array.from({ length: 50 }, (_, n) => request(`k${n}`)))
    const { lease } = await claimed(jobs, 'k7')
    const voice = await voices.claim('v')
    if (voice.outcome !== 'claimed') throw new Error('held')
    await voices.advance(voice.lease, { status: 'registering' })
    await redis().kill()
    // Asked while it is away: sent when it is back, and done once.
    const registered = voices.advance(voice.lease, { status: 'registered', fileId: 'f' })
    const written = jobs.checkpoint(lease, { state: { step: 2 } })
    await redis().start()
    expect(await registered).toMatchObject({ status: 'registered', attempts: [{ fileId: 'f' }] })
    expect(await written).toMatchObject({ key: 'k7', status: 'working', state: { step: 2 } })
    expect(await jobs.list({ statuses: ['queued'], limit: 100 })).toHaveLength(49)
    expect(await jobs.complete(lease, { status: 'done' })).toMatchObject({ attempts: 1 })
  })

  it.each(['claimNext', 'claim'] as const)('(cut off as it answers a %s) gives the same job again', async (how) => {
    const network = await proxyTo(redis().port)
    const { jobs } = await opened(60_000, network.url)
    await jobs.enqueueAll([request('a'), request('b')])
    // As a farm has long done when it is cut off: what is sent is the claim, not yet its script.
    await jobs.claimNext({ groups: ['elsewhere'] })
    await jobs.claim('nobody')
    // The job's key is part of the claim of one; of the next one, the group that is left out.
    network.loseAnswerTo(how === 'claim' ? '$1\r\na\r\n' : 'left out')
    const claim = how === 'claim' ? await claimed(jobs, 'a') : await jobs.claimNext({ exceptGroups: ['left out'] })
    if (claim === null) throw new Error('Nothing is free.')
    expect(claim.job).toMatchObject({ key: 'a', attempts: 1 })
    expect(await jobs.counts()).toEqual([
      { group: 'folder', status: 'queued', count: 1 },
      { group: 'folder', status: 'working', count: 1 },
    ])
    expect(await jobs.complete(claim.lease, { status: 'done' })).toMatchObject({ key: 'a' })
    expect((await jobs.claimNext())?.job.key).toBe('b')
  })

  it('(away for longer than anybody waits) gives what was claimed meanwhile to who asks again', async () => {
    const { jobs } = await opened(300)
    await jobs.enqueueAll(['a', 'b', 'c', 'd'].map((key) => request(key)))
    await redis().kill()
    // All three are sent when it is back, though nobody waits for their answers any more.
    for (let round = 0; round < 3; round += 1)
      await expect(jobs.claimNext()).rejects.toMatchObject({ code: 'ERR_STORE_UNREACHABLE' })
    await redis().start()
    const taken: Job[] = []
    for (let job = 0; job < 4; job += 1)
      await until(async () => {
        const claim = await jobs.claimNext().catch(() => null)
        if (claim) taken.push(claim.job)
        return claim !== null
      })
    expect(taken.map(({ key, attempts }) => [key, attempts])).toEqual([...'abcd'].map((key) => [key, 1]))
  })

  it('tells how it keeps what it acknowledges', async () => {
    expect(await inspectSharedStore(redis().url)).toMatchObject({
      ...{ isAppendOnly: true, appendSync: 'always', evictionPolicy: 'noeviction', replicas: 0 },
      version: expect.stringMatching(/^\d+\.\d+/),
    })
  })

  it('refuses what is no address of Redis', async () => {
    await expect(openSharedLedger('http://user:secret@localhost')).rejects.toMatchObject({
      code: 'ERR_STORE_ADDRESS',
      message: expect.not.stringContaining('secret'),
    })
  })
})
