import { expect, it, onTestFinished } from 'vitest'
import { openSharedDatabase, openSharedLedger } from '../../src/ledger/index.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { until } from '../helpers/until.js'
import { claimed, enqueueAll, request } from './store-fixture.js'

const SCHEMA = ['CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER)']

describeOnPostgres('transactions of PostgreSQL that meet', (server) => {
  /** A database whose sessions have a setting. */
  function databaseWith(setting: string): string {
    const url = server().newDatabase()
    server().query(`ALTER DATABASE ${url.split('/').at(-1)} SET ${setting}`, 'postgres')
    return url
  }
  async function opened(url: string) {
    const database = await openSharedDatabase(url, SCHEMA, { prefix: 'test' })
    onTestFinished(() => database.close())
    await database.run('INSERT INTO t (id, a) VALUES (1, 0)')
    return database
  }

  it('repeat what a statement timeout ended', async () => {
    const database = await opened(databaseWith("statement_timeout = '1s'"))
    let runs = 0
    let adding: Promise<void> | undefined
    await database.transaction(async (holder) => {
      await holder.run('UPDATE t SET a = a + 1 WHERE id = 1')
      adding = database.transaction(async (tx) => {
        runs += 1
        await tx.run('UPDATE t SET a = a + 1 WHERE id = 1')
      })
      await until(() => runs > 1)
    })
    await adding
    expect(await database.all('SELECT a FROM t')).toEqual([{ a: 2 }])
  })

  it('repeat after a serialization failure', async () => {
    const database = await opened(databaseWith("default_transaction_isolation = 'serializable'"))
    let [runs, reads] = [0, 0]
    const add = () =>
      database.transaction(async (tx) => {
        runs += 1
        const row = await tx.get('SELECT a FROM t WHERE id = 1', [])
        reads += 1
        // Both have read before one of them writes, so the other cannot be serialized.
        await until(() => reads > 1)
        await tx.run('UPDATE t SET a = ? WHERE id = 1', [Number(row?.a) + 1])
      })
    await Promise.all([add(), add()])
    expect(await database.all('SELECT a FROM t')).toEqual([{ a: 2 }])
    expect(runs).toBe(3)
  })

  it('keep the limit of a day, also if each transaction reads what was there when it began', async () => {
    const url = databaseWith("default_transaction_isolation = 'repeatable read'")
    const { spending, close } = await openSharedLedger(url)
    onTestFinished(close)
    const reserve = (id: string) => spending.reserve(id, 20, { maxSecondsPerDay: 100 }).catch(() => {})
    await reserve('first')
    await Promise.all(Array.from({ length: 12 }, (_, index) => reserve(`other ${index}`)))
    expect(await spending.spent()).toMatchObject({ reservedSec: 100 })
  })

  it('hand out each job once, also where every transaction has to be serializable', async () => {
    const url = databaseWith("default_transaction_isolation = 'serializable'")
    const { jobs, close } = await openSharedLedger(url)
    onTestFinished(close)
    await enqueueAll(
      jobs,
      Array.from({ length: 20 }, (_, n) => request(`k${n}`, { group: `g${n % 3}` })),
    )
    const keys: string[] = []
    const work = async () => {
      for (let next = await jobs.claimNext(); next; next = await jobs.claimNext()) {
        keys.push(next.job.key)
        await jobs.complete(next.lease, { status: 'done' })
      }
    }
    await Promise.all([work(), work(), work()])
    expect(keys.sort()).toEqual(Array.from({ length: 20 }, (_, n) => `k${n}`).sort())
  })

  it('change a job once, although its row was held for longer than a statement may take', async () => {
    const url = databaseWith("statement_timeout = '1s'")
    const { jobs, close } = await openSharedLedger(url)
    const rows = await openSharedDatabase(url, ['CREATE TABLE u (id INTEGER PRIMARY KEY)'], { prefix: 'rows' })
    onTestFinished(async () => {
      await close()
      await rows.close()
    })
    await jobs.enqueue(request('k'))
    const { lease } = await claimed(jobs, 'k')
    const waiting = () =>
      Number(server().query("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")[0])
    let writing: Promise<unknown> | undefined
    await rows.transaction(async (tx) => {
      await tx.all('SELECT id FROM ledger_jobs FOR UPDATE')
      writing = jobs.checkpoint(lease, { state: { step: 2 } })
      await until(() => waiting() > 0)
      // The server's own clock: by then it has ended the statement that waits, however busy this machine is.
      for (let pause = 0; pause < 5; pause++) await tx.all('SELECT pg_sleep(0.3)')
    })
    await writing
    expect(await jobs.complete(lease, { status: 'done' })).toMatchObject({ state: { step: 2 }, attempts: 1 })
  })
})
