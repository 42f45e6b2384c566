import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openPostgresDatabase } from '../../src/ledger/database/postgres-database.js'
import { JobQueue, openSharedLedger } from '../../src/ledger/index.js'
import { NO_PGBOUNCER, type PgBouncer, startPgBouncer } from '../helpers/system/pgbouncer.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { until } from '../helpers/until.js'
import { describeJobStore } from './contracts/job-store-contract.js'
import { describeVoiceLedger } from './contracts/voice-ledger-contract.js'
import { startScript } from './run-script.js'
import { enqueueAll, request, sharedLedger } from './store-fixture.js'

if (NO_PGBOUNCER !== null) process.stderr.write(`Skipped: PgBouncer: ${NO_PGBOUNCER}\n`)

describeOnPostgres('PostgreSQL behind a PgBouncer in transaction mode', (server) => {
  describe.skipIf(NO_PGBOUNCER !== null)('with two connections', () => {
    let bouncer: PgBouncer
    beforeAll(async () => {
      bouncer = await startPgBouncer(server(), 2)
    })
    afterAll(() => bouncer?.stop())

    let n = 0
    const anew = () => {
      n += 1
      const prefix = `test${n}`
      return (now: () => number) => openSharedLedger(bouncer.url, { now, prefix })
    }
    describeJobStore('PgBouncer', () => sharedLedger('jobs', anew()))
    // Its statements go the way of those above.
    if (process.env.VOXMUX_SOAK) describeVoiceLedger('PgBouncer', () => sharedLedger('voices', anew()))

    /** As another process has it: with statements of its own, one at a time as it is asked. */
    const otherProcess = (code: string) =>
      startScript(`
        import { openSharedDatabase, openSharedLedger } from 'src/ledger/index.js'
        const url = ${JSON.stringify(bouncer.url)}
        const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n')
        const asked = () => new Promise((resolve) => process.stdin.once('data', resolve))
        ${code}
        setInterval(() => {}, 1000)`)

    it('never runs the statement of another process', async () => {
      const opened = "const database = await openSharedDatabase(url, [], { prefix: 'words' })"
      const one = otherProcess(`
        ${opened}
        await database.transaction(async (tx) => {
          say(await tx.get("SELECT 'one' AS word", []))
          await asked()
        })
        say('free')
        await asked()
        say(await database.get("SELECT 'one' AS word", []))`)
      expect(await one.line()).toEqual({ word: 'one' })
      const other = otherProcess(`
        ${opened}
        say(await database.transaction((tx) => tx.get("SELECT 'other' AS word", [])))
        await asked()
        await database.transaction(async () => { say('holds'); await asked() })`)
      expect(await other.line()).toEqual({ word: 'other' })
      // Each connection of the server has the statement of one process now. The processes change places.
      one.child.stdin?.write('end\n')
      expect(await one.line()).toBe('free')
      other.child.stdin?.write('hold\n')
      expect(await other.line()).toBe('holds')
      one.child.stdin?.write('again\n')
      expect(await one.line()).toEqual({ word: 'one' })
    })

    it('does not wait for a user or a database that does not exist', async () => {
      const at = (login: string, name = 'voxmux') =>
        openSharedLedger(`postgres://${login}@127.0.0.1:${bouncer.port}/${name}`)
      await expect(at('stranger')).rejects.toMatchObject({ code: 'ERR_STORE_REFUSED', exitCode: 2 })
      await expect(at('voxmux', 'nowhere')).rejects.toMatchObject({ code: 'ERR_STORE_ADDRESS', exitCode: 2 })
    })

    it('does not take an echo for notifications', async () => {
      const address = { hosts: [{ host: '127.0.0.1', port: bouncer.port }], user: 'voxmux', database: 'voxmux' }
      const database = await openPostgresDatabase({ ...address, ssl: false }, [], { prefix: 'echo' })
      onTestFinished(() => database.close())
      const listening = await database.listen('news', () => {})
      await database.notify('news', 'anything')
      expect(listening.isHearing()).toBe(false)
    })

    it('waits for a server that is killed behind it, and does nothing twice', async () => {
      const { jobs, close } = await openSharedLedger(bouncer.url, { prefix: 'away' })
      onTestFinished(close)
      await enqueueAll(
        jobs,
        ['a', 'b'].map((key) => request(key)),
      )
      const first = await jobs.claimNext()
      if (first === null) throw new Error('Nothing is free.')
      await server().kill()
      const ended = jobs.complete(first.lease, { status: 'done' })
      const second = jobs.claimNext()
      await server().start()
      expect([await ended, (await second)?.job]).toMatchObject([
        { key: 'a', status: 'done', attempts: 1 },
        { key: 'b', status: 'working', attempts: 1 },
      ])
      expect(await jobs.claimNext()).toBeNull()
    })

    it('hands a job of one process to a waiting worker of another', async () => {
      const { jobs, close } = await openSharedLedger(bouncer.url)
      onTestFinished(close)
      const done: string[] = []
      const queue = new JobQueue({
        ...{ store: jobs, concurrency: 1, pollMs: 50 },
        run: async ({ job }) => void done.push(job.key),
      })
      queue.start()
      onTestFinished(() => queue.stop())
      const other = otherProcess(`
        const { jobs } = await openSharedLedger(url)
        for (const key of ['a', 'b']) {
          await jobs.enqueue({ key, group: 'folder', input: '/in/' + key })
          say(key)
          await asked()
        }`)
      for (const key of ['a', 'b']) {
        expect(await other.line()).toBe(key)
        await until(() => done.includes(key))
        other.child.stdin?.write('next\n')
      }
      await until(async () => (await jobs.counts()).every(({ status, count }) => status === 'done' && count === 2))
      expect(done).toEqual(['a', 'b'])
    })
  })
})
