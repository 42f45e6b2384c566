import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSqliteFile } from '../../../src/ledger/index.js'
import { openNodeStore, type StorePlace } from '../../../src/service/store/open-node-store.js'
import { SERVICE_MIGRATIONS } from '../../../src/service/store/sql/service-migrations.js'
import { newLeaseOwner } from '../../../src/service/webhooks/lease-owner.js'
import { freshFolder } from '../../conformance/folder.js'
import { describeOnPostgres } from '../../helpers/system/postgres-server.js'
import { postgresProgram } from '../../helpers/system/postgres-template.js'
import { filesContract } from './files-contract.js'
import { outboxContract } from './outbox-contract.js'
import { recordsContract } from './records-contract.js'
import { type OpenTwoNodes, takenFile } from './store-fixture.js'

/** The same suite for each engine. */
function storeContract(place: () => Promise<{ at: StorePlace; prefix?: string; remove?: () => Promise<void> }>): void {
  const open: OpenTwoNodes = async (now) => {
    const { at, prefix, remove } = await place()
    const [one, other] = [await openNodeStore(at, { now, prefix }), await openNodeStore(at, { now, prefix })]
    return {
      one: one.store,
      other: other.workStore,
      close: async () => {
        await Promise.all([one.close(), other.close()])
        await remove?.()
      },
    }
  }
  describe('records', () => recordsContract(open))
  describe('files', () => filesContract(open))
  describe('outbox', () => outboxContract(open))

  it('gives the webhooks of a killed node of this machine to the next at once', async () => {
    const { at, prefix, remove } = await place()
    const { store, close } = await openNodeStore(at, { prefix })
    onTestFinished(async () => {
      await close()
      await remove?.()
    })
    const { id: userId } = await store.accounts.ensure('local')
    const target = { url: 'https://a.example/hook', method: 'POST', secretPosition: 'header', secret: null } as const
    await store.targets.set(userId, target)
    const { id, claim } = await takenFile(store, { webhook: true, userId })
    await store.files.change(id, { kind: 'begin', claim }, [{ type: 'status-updated', status: 'In Progress' }])
    const dead = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    const living = JSON.parse(newLeaseOwner())
    const owner = JSON.stringify({ ...living, pid: dead.pid, startTicks: null })
    expect(await store.outbox.claim(owner, 60_000, 10)).toHaveLength(1)
    expect(await store.outbox.claim(newLeaseOwner(), 60_000, 10)).toEqual([])
    dead.kill('SIGKILL')
    await once(dead, 'exit')
    expect(await store.outbox.claim(newLeaseOwner(), 60_000, 10)).toMatchObject([{ fileId: id, attempt: 2 }])
    // A lease of this very process, which lives, is left alone.
    expect(await store.outbox.claim(newLeaseOwner(), 60_000, 10)).toEqual([])
  })
}

describe('the service’s store in SQLite', () => {
  storeContract(async () => {
    const folder = await freshFolder()
    return { at: { dataDir: folder.path }, remove: () => folder.remove() }
  })

  it('brings credits of an earlier version over to whole milliseconds', async () => {
    const folder = await freshFolder()
    onTestFinished(() => folder.remove())
    const old = openSqliteFile(join(folder.path, 'service.db'), SERVICE_MIGRATIONS.slice(0, 4))
    old.run(
      "INSERT INTO account (id, name, created_ms) VALUES ('a', 'poor', 1), ('b', 'rich', 2), ('c', 'vast', 3)",
      [],
    )
    old.run(
      `INSERT INTO user (id, account_id, name, credits_sec, created_ms)
       VALUES ('u', 'a', 'poor', 2.0999999999999996, 1), ('v', 'b', 'rich', NULL, 2), ('w', 'c', 'vast', 1e300, 3)`,
      [],
    )
    old.run(
      `INSERT INTO file (id, user_id, client_file_id, file_name, state, charged_sec, working_claim, created_ms, updated_ms)
       VALUES ('f', 'u', 'a', 'a', 'pending', 4.2, 7, 1, 1)`,
      [],
    )
    old.close()
    const { store, close } = await openNodeStore({ dataDir: folder.path })
    onTestFinished(close)
    const credits = async () => (await store.accounts.list()).map(({ creditsSec }) => creditsSec)
    expect(await credits()).toEqual([2.1, null, Number.MAX_SAFE_INTEGER / 1000])
    await store.files.change('f', { kind: 'fail', claim: 7, errorCode: -1 })
    expect((await credits())[0]).toBe(6.3)
  })
})

let stores = 0

describeOnPostgres('the service’s store in PostgreSQL', (server) => {
  storeContract(async () => {
    stores += 1
    return { at: { store: server().url }, prefix: `service_${stores}` }
  })

  it('keeps nothing of a file that is forgotten, nor of what was told of it', async () => {
    const store = server().newDatabase()
    let nowMs = 1_800_000_000_000
    const node = await openNodeStore({ store }, { now: () => nowMs })
    onTestFinished(() => node.close())
    const stored = (text: string) => {
      const dump = [...['-h', server().folder, '-p', String(server().port), '-U', 'postgres'], '--data-only']
      const database = new URL(store).pathname.slice(1)
      return execFileSync(postgresProgram('pg_dump'), [...dump, database], { encoding: 'utf8' }).includes(text)
    }
    const { files, accounts, targets, outbox, log } = node.store
    const { id: userId } = await accounts.ensure('local')
    const target = { url: 'https://a.example/hook', method: 'POST', secretPosition: 'header', secret: null } as const
    await targets.set(userId, target)
    const jobs = await node.jobs()
    const { id, claim } = await takenFile(node.store, { webhook: true, userId })
    const { job } = await jobs.enqueue({ key: id, group: userId, input: 'a' })
    const told = { type: 'status-updated', status: 'Processed' } as const
    await files.change(id, { kind: 'succeed', claim, outputExtension: 'wav' }, [told])
    const [event] = await outbox.claim('node', 1000, 1)
    if (!event) throw new Error('Nothing is due.')
    const entry = { ...told, fileId: id, attempt: 1, method: 'POST', url: '', detail: '' }
    await outbox.settle(event, { outcome: 'delivered' }, { ...entry, outcome: 'delivered' })
    expect([stored(id), stored(job.id)]).toEqual([true, true])
    await files.change(id, { kind: 'output-deleted' })
    nowMs += 10
    await files.forgetDeleted(5)
    await log.forgetOld(5)
    expect(await jobs.forget(job.id)).toBe(true)
    expect(stored(id)).toBe(false)
  })
})
