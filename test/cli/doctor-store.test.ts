import { Redis } from 'ioredis'
import { afterEach, expect, it } from 'vitest'
import { examineStore } from '../../src/cli/doctor/examine-store.js'
import { inspectSharedStore } from '../../src/ledger/index.js'
import { describeOnRedis } from '../ledger/redis-fixture.js'
import { startRedisGroup } from '../ledger/redis-group.js'

const examined = async (store: string | null) =>
  (await examineStore({ store })).map(({ check, status, detail }) => `${check} ${status}: ${detail}`)

describeOnRedis('the doctor of a shared store', (redis) => {
  const set = async (settings: Readonly<Record<string, string>>) => {
    const client = new Redis(redis().url)
    for (const [name, value] of Object.entries(settings)) await client.config('SET', name, value)
    client.disconnect()
  }
  afterEach(() => set({ appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction', maxmemory: '0' }))

  it('has nothing to say where there is none', async () => {
    expect(await examined(null)).toEqual([])
  })

  it('finds one in order that is set up as the documents say', async () => {
    expect(await examined(redis().url)).toEqual([
      expect.stringMatching(/^store ok: Redis \d+\.\d+.* used, 0 replicas$/),
      expect.stringMatching(/^store on disk ok/),
      expect.stringMatching(/^store full ok/),
    ])
  })

  it('finds what would lose jobs', async () => {
    const maxmemory = String(Math.round(1.05 * (await inspectSharedStore(redis().url)).usedBytes))
    await set({ appendonly: 'no', 'maxmemory-policy': 'allkeys-lru', maxmemory })
    expect(await examined(redis().url)).toEqual([
      expect.stringMatching(/^store ok/),
      expect.stringMatching(/^store on disk fault: .*does not log to disk/),
      expect.stringMatching(/^store full fault: .*allkeys-lru/),
      expect.stringMatching(/^store memory note: .*% used/),
    ])
    await set({ appendonly: 'yes', appendfsync: 'everysec' })
    expect(await examined(redis().url)).toContainEqual(expect.stringMatching(/^store on disk note: .*last second/))
  })

  it('finds one that cannot be reached', async () => {
    await redis().kill()
    const [found] = await examineStore({ store: redis().url })
    await redis().start()
    expect(found).toMatchObject({
      check: 'store',
      status: 'fault',
      exitCode: 4,
      detail: expect.stringContaining('the connection was refused'),
    })
  })

  it('says what a failover would take with it', async () => {
    const group = await startRedisGroup()
    const copies = async (more = '') => (await examined(group.url + more)).filter((text) => /^store copies/.test(text))
    try {
      expect(await copies()).toEqual([expect.stringMatching(/note: .*last moment.*replicas=1/)])
      expect(await copies('&replicas=1')).toEqual([expect.stringMatching(/ok: each write reaches 1 more/)])
      expect(await copies('&replicas=3')).toEqual([
        expect.stringMatching(/fault: .*more replicas than are connected \(2\)/),
      ])
      const client = new Redis(group.primary.url)
      await client.config('SET', 'min-replicas-to-write', '0')
      client.disconnect()
      expect(await copies()).toEqual([expect.stringMatching(/note: .*do not have yet/)])
    } finally {
      await group.stop()
    }
  })
})
