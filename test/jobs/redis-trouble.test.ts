import { Redis } from 'ioredis'
import { expect, it, onTestFinished } from 'vitest'
import { type Logger, silentLogger } from '../../src/core/logger.js'
import { inspectSharedStore, openSharedLedger } from '../../src/jobs/index.js'
import { until } from '../helpers/until.js'
import { describeOnRedis } from './redis-fixture.js'
import { claimed, request } from './store-fixture.js'

describeOnRedis('a Redis in trouble', (redis) => {
  async function opened(patienceMs = 60_000) {
    const said: string[] = []
    const logger: Logger = { ...silentLogger, warn: (_fields, message) => said.push(message) }
    const ledger = await openSharedLedger(redis().url, { patienceMs, logger })
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
    await until(() => said.length > 1)
    await client.config('SET', 'maxmemory', '0')
    expect(await enqueued).toMatchObject({ created: true })
    expect(await written).toMatchObject({ state: { step: 1 } })
    expect((await jobs.list()).map(({ key }) => key)).toEqual(['while full', 'before'])
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
