/**
 * `npm run bench service-memory`: what a file of the service costs in PostgreSQL: registered, waiting, ended, and when
 * the job behind it is forgotten. Bytes of tables and indexes a file, after a vacuum.
 */
import { randomUUID } from 'node:crypto'
import { openNodeStore } from '../../src/service/store/open-node-store.js'
import { PostgresServer } from '../helpers/system/postgres-server.js'

const FILES = 5000
/** Calls that are on their way at once. */
const BATCH = 200

const server = await PostgresServer.start()
const node = await openNodeStore({ store: server.url })
const { files, accounts } = node.store
const jobs = await node.jobs()
const usedBytes = () => server.usedBytes()
const say = (what: string, bytes: number) =>
  process.stdout.write(`${what.padEnd(44)} ${Math.round(bytes / FILES)} bytes\n`)
const ids = Array.from({ length: FILES }, () => randomUUID())
const each = async (work: (id: string) => Promise<unknown>) => {
  for (let from = 0; from < FILES; from += BATCH) await Promise.all(ids.slice(from, from + BATCH).map(work))
}
const nameOf = (id: string) => `a show/episode 12/interview scene 4 take ${id.slice(0, 8)}`

try {
  const user = await accounts.ensure('local')
  const empty = usedBytes()
  await each((id) => files.register(id, { userId: user.id, clientFileId: `${nameOf(id)}.wav` }))
  say('a file that is registered', usedBytes() - empty)
  const options = { webhook: false, webhookSecret: null, outputType: 'wav' } as const
  await each(async (id) => {
    await files.change(id, { kind: 'start', options })
    await jobs.enqueue({ key: id, group: user.id, input: nameOf(id) })
    await files.markQueued(id)
  })
  say('one that waits', usedBytes() - empty)
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
  say('one that has ended', usedBytes() - empty)
  await jobs.forgetEnded(Date.now() + 60_000)
  say('one whose job is forgotten', usedBytes() - empty)
  await each((id) => files.change(id, { kind: 'output-deleted' }))
  await files.forgetDeleted(-60_000)
  say('one that is forgotten', usedBytes() - empty)
} finally {
  await node.close()
  await server.stop()
}
