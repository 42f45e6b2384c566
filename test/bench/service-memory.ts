/**
 * `npm run bench service-memory`: what a file of the service costs in Redis: registered, waiting, ended, and when the
 * job behind it is forgotten. Bytes a file, from the server's own counts before and after.
 */
import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { silentLogger } from '../../src/core/logger.js'
import { openRedisNodeStore } from '../../src/service/store/redis/open-redis-node-store.js'
import { startRedis } from '../ledger/redis-fixture.js'

const FILES = 5000
/** Calls that are on their way at once. */
const BATCH = 200

const redis = await startRedis(['--appendfsync', 'no'])
const client = new Redis(redis.url)
const node = await openRedisNodeStore(redis.url, { logger: silentLogger })
const { files, accounts } = node.store
const jobs = await node.jobs()
const usedBytes = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1])
const say = (what: string, bytes: number) =>
  process.stdout.write(`${what.padEnd(44)} ${Math.round(bytes / FILES)} bytes\n`)
const ids = Array.from({ length: FILES }, () => randomUUID())
const each = async (work: (id: string) => Promise<unknown>) => {
  for (let from = 0; from < FILES; from += BATCH) await Promise.all(ids.slice(from, from + BATCH).map(work))
}
const nameOf = (id: string) => `a show/episode 12/interview scene 4 take ${id.slice(0, 8)}`

try {
  const user = await accounts.ensure('local')
  const empty = await usedBytes()
  await each((id) => files.register(id, { userId: user.id, clientFileId: `${nameOf(id)}.wav` }))
  say('a file that is registered', (await usedBytes()) - empty)
  const options = { webhook: false, webhookSecret: null, outputType: 'wav' } as const
  await each(async (id) => {
    await files.change(id, { kind: 'start', options })
    await jobs.enqueue({ key: id, group: user.id, input: nameOf(id) })
    await files.markQueued(id)
  })
  say('one that waits', (await usedBytes()) - empty)
  for (;;) {
    const claimed = await jobs.claimNext()
    if (!claimed) break
    const taken = { id: claimed.job.key, claim: 1 }
    await files.claim(taken)
    await files.change(taken.id, { kind: 'begin', claim: 1 })
    await files.change(taken.id, { kind: 'succeed', claim: 1, outputExtension: 'wav' })
    await jobs.complete(claimed.lease, { status: 'done' })
    await files.release(taken)
  }
  say('one that has ended', (await usedBytes()) - empty)
  await jobs.forgetEnded(Date.now() + 60_000)
  say('one whose job is forgotten', (await usedBytes()) - empty)
  await each((id) => files.change(id, { kind: 'output-deleted' }))
  await files.forgetDeleted(-60_000)
  say('one that is forgotten', (await usedBytes()) - empty)
} finally {
  client.disconnect()
  await node.close()
  await redis.stop()
}
