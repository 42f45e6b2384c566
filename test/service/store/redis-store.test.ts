import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/core/logger.js'
import { openRedisNodeStore } from '../../../src/service/store/redis/open-redis-node-store.js'
import { describeOnRedis } from '../../ledger/redis-fixture.js'
import { filesContract } from './files-contract.js'
import { outboxContract } from './outbox-contract.js'
import { recordsContract } from './records-contract.js'
import { type OpenTwoNodes, takenFile } from './store-fixture.js'

let stores = 0

describeOnRedis('the service’s store on Redis', (redis) => {
  const open: OpenTwoNodes = async (now) => {
    stores += 1
    const options = { now, prefix: `service-${stores}`, logger: silentLogger }
    const [one, other] = [
      await openRedisNodeStore(redis().url, options),
      await openRedisNodeStore(redis().url, options),
    ]
    return {
      one: one.store,
      other: other.workStore,
      close: async () => void (await Promise.all([one.close(), other.close()])),
    }
  }
  describe('records', () => recordsContract(open))
  describe('files', () => filesContract(open))
  describe('outbox', () => outboxContract(open))

  it('keeps nothing of a file that is forgotten, nor of what was told of it', async () => {
    let nowMs = 1_800_000_000_000
    const prefix = 'forgetful'
    const node = await openRedisNodeStore(redis().url, { now: () => nowMs, prefix, logger: silentLogger })
    const client = new Redis(redis().url)
    const keys = async () => (await client.keys(`{${prefix}}*`)).sort()
    const { store } = node
    const { id: userId } = await store.accounts.ensure('local')
    await store.targets.set(userId, {
      ...{ url: 'https://a.example', method: 'POST', secretPosition: 'header', secret: null },
    })
    const before = await keys()
    const jobs = await node.jobs()
    const { id, claim } = await takenFile(store, { webhook: true, userId })
    const { job } = await jobs.enqueue({ key: id, group: userId, input: 'a' })
    await store.files.change(id, { kind: 'succeed', claim, outputExtension: 'wav' }, [
      { type: 'status-updated', status: 'Processed' },
    ])
    await store.files.release({ id, claim })
    const [event] = await store.outbox.claim('node', 1000, 1)
    if (!event) throw new Error('Nothing is due.')
    const { type, message } = event.body
    await store.outbox.settle(
      event,
      { outcome: 'delivered' },
      {
        fileId: id,
        type,
        status: message.status,
        attempt: 1,
        method: 'POST',
        url: '',
        outcome: 'delivered',
        detail: '',
      },
    )
    expect((await keys()).filter((key) => key.includes(id))).not.toEqual([])
    await store.files.change(id, { kind: 'output-deleted' })
    nowMs += 10
    await store.files.forgetDeleted(5)
    await store.log.forgetOld(5)
    expect(await jobs.forget(job.id)).toBe(true)
    // What is left is of the user and of the queue as a whole, and does not grow with the files.
    const left = (await keys()).filter((key) => !before.includes(key))
    expect(left.filter((key) => key.includes(id) || key.includes(job.id))).toEqual([])
    expect(left.filter((key) => key.includes(':service:'))).toEqual([`{${prefix}}:own:service:lastEvent`])
    await client.quit()
    await node.close()
  })

  it('brings credits of an earlier version over to whole milliseconds', async () => {
    const prefix = 'earlier'
    const node = await openRedisNodeStore(redis().url, { prefix, logger: silentLogger })
    const client = new Redis(redis().url)
    const { store } = node
    const { id, claim, userId } = await takenFile(store)
    const [userKey] = await client.keys(`{${prefix}}*user:${userId}`)
    const [fileKey] = await client.keys(`{${prefix}}*file:${id}`)
    await client.hset(userKey ?? '', 'creditsSec', '2.0999999999999996')
    await client.hset(fileKey ?? '', 'chargedSec', '4.2')
    await client.hdel(fileKey ?? '', 'chargedMs')
    expect(await store.files.charge({ id, claim }, 1)).toBe('charged')
    await store.files.change(id, { kind: 'fail', claim, errorCode: -1 })
    expect((await store.accounts.byId(userId))?.creditsSec).toBe(6.3)
    expect(await client.hexists(userKey ?? '', 'creditsSec')).toBe(0)
    await client.quit()
    await node.close()
  })
})
