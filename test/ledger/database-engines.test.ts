import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Logger, silentLogger } from '../../src/core/logger.js'
import type { Database, SqlValue } from '../../src/ledger/database/database.js'
import { openPostgresDatabase, type PostgresOptions } from '../../src/ledger/database/postgres-database.js'
import { openSqliteDatabase } from '../../src/ledger/database/sqlite-database.js'
import { proxyTo } from '../helpers/system/network-proxy.js'
import { describeOnPostgres, type PostgresServer } from '../helpers/system/postgres-server.js'
import { until } from '../helpers/until.js'
import { tempFolder } from './temp-folder.js'

const SCHEMA = [
  'CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b TEXT, c REAL, d BLOB);\nCREATE INDEX t_a ON t (a);',
]

function describeDatabase(engine: string, open: () => Promise<Database>): void {
  const opened = async () => {
    const database = await open()
    onTestFinished(() => database.close())
    return database
  }

  describe(`a database on ${engine}`, () => {
    it.each<[string, SqlValue]>([
      ['a', 2 ** 52],
      ['a', 2n ** 62n],
      ['a', null],
      ['b', "it's ? \\ ü"],
      ['b', ''],
      ['c', 0.1],
      ['d', Buffer.from([0, 255])],
    ])('gives back in %s what went in: %s', async (column, value) => {
      const database = await opened()
      expect(await database.run(`INSERT INTO t (${column}) VALUES (?)`, [value])).toEqual({ changes: 1 })
      const row = await database.get(`SELECT ${column} FROM t`)
      expect(row?.[column] instanceof Uint8Array ? Buffer.from(row[column]) : row?.[column]).toEqual(value)
    })

    it('reads sums, counts and conditions as numbers', async () => {
      const database = await opened()
      await database.run('INSERT INTO t (a, b) VALUES (1, ?1), (2, ?1)', ['x'])
      const sql = 'SELECT sum(a) AS sum, count(*) AS n, EXISTS (SELECT 1 FROM t WHERE t.b = ?) AS found FROM t'
      expect(await database.get(sql, ['x'])).toEqual({ sum: 3, n: 2, found: 1 })
    })

    it('names what the dialects do not share', async () => {
      const database = await opened()
      const { isOneOf, jsonText, forUpdate } = database.dialect
      await database.run("INSERT INTO t (a, b) VALUES (1, ?), (2, '{}')", [JSON.stringify({ code: 'x y' })])
      const sql = `SELECT a FROM t WHERE ${isOneOf(jsonText('b', 'code'), '?')} ORDER BY a ${forUpdate}`
      expect(await database.all(sql, [JSON.stringify(['z', 'x y'])])).toEqual([{ a: 1 }])
    })

    it('does all of a transaction or nothing, and lets nothing else into it', async () => {
      const database = await opened()
      const stopped = database.transaction(async (tx) => {
        await tx.run('INSERT INTO t (a) VALUES (1)')
        await new Promise((resolve) => setTimeout(resolve, 5))
        expect(await tx.all('SELECT a FROM t WHERE a = 1')).toEqual([{ a: 1 }])
        throw new Error('stop')
      })
      const beside = database.run('INSERT INTO t (a) VALUES (2)')
      await expect(stopped).rejects.toThrow('stop')
      await beside
      expect(await database.all('SELECT a FROM t')).toEqual([{ a: 2 }])
    })

    it('counts without a gap however many add at once', async () => {
      const database = await opened()
      await database.run('INSERT INTO t (id, a) VALUES (1, 0)')
      const add = () =>
        database.transaction(async (tx) => {
          const row = await tx.get(`SELECT a FROM t WHERE id = 1 ${tx.dialect.forUpdate}`)
          await tx.run('UPDATE t SET a = ? WHERE id = 1', [Number(row?.a) + 1])
        })
      await Promise.all(Array.from({ length: 20 }, add))
      expect(await database.get('SELECT a FROM t')).toEqual({ a: 20 })
    })
  })
}

describeDatabase('SQLite', () => openSqliteDatabase(join(tempFolder(), 'test.db'), SCHEMA))

it('opens a SQLite file in which this process has a transaction', async () => {
  const file = join(tempFolder(), 'test.db')
  const one = await openSqliteDatabase(file, SCHEMA)
  onTestFinished(() => one.close())
  const adding = one.transaction(async (tx) => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    await tx.run('INSERT INTO t (a) VALUES (1)')
  })
  const other = await openSqliteDatabase(file, SCHEMA)
  await adding
  expect(await other.all('SELECT a FROM t')).toEqual([{ a: 1 }])
  await other.close()
})

describeOnPostgres('PostgreSQL', (server) => {
  let n = 0
  const anew = () => {
    n += 1
    return `test${n}`
  }
  const open = (more: Partial<PostgresOptions> = {}, migrations = SCHEMA, port = server().port) =>
    openPostgresDatabase(addressOf(server(), port), migrations, { prefix: anew(), ...more })
  const opened = async (...args: Parameters<typeof open>) => {
    const database = await open(...args)
    onTestFinished(() => database.close())
    return database
  }
  describeDatabase('PostgreSQL', open)

  it('does once what a commit did whose answer was lost', async () => {
    const network = await proxyTo(server().url)
    const database = await opened({}, SCHEMA, network.port)
    let runs = 0
    network.loseAnswerTo('COMMIT')
    await database.transaction(async (tx) => {
      runs += 1
      await tx.run('INSERT INTO t (a) VALUES (1)')
    })
    expect(runs).toBe(1)
    expect(await database.all('SELECT a FROM t')).toEqual([{ a: 1 }])
  })

  it('repeats what was cut off before its commit', async () => {
    const network = await proxyTo(server().url)
    const database = await opened({}, SCHEMA, network.port)
    let runs = 0
    network.loseAnswerTo('marked')
    await database.transaction(async (tx) => {
      runs += 1
      await tx.run("INSERT INTO t (b) VALUES ('marked')")
    })
    expect(runs).toBe(2)
    expect(await database.all('SELECT b FROM t')).toEqual([{ b: 'marked' }])
  })

  it('repeats after a deadlock', async () => {
    const database = await opened()
    await database.run('INSERT INTO t (id, a) VALUES (1, 0), (2, 0)')
    const both = (first: number, second: number) =>
      database.transaction(async (tx) => {
        await tx.run('UPDATE t SET a = a + 1 WHERE id = ?', [first])
        await new Promise((resolve) => setTimeout(resolve, 50))
        await tx.run('UPDATE t SET a = a + 1 WHERE id = ?', [second])
      })
    await Promise.all([both(1, 2), both(2, 1)])
    expect(await database.all('SELECT a FROM t')).toEqual([{ a: 2 }, { a: 2 }])
  })

  it('waits for a server that is away, and says so once', async () => {
    const said: string[] = []
    const logger: Logger = { ...silentLogger, warn: (_, message) => said.push(message) }
    const database = await opened({ logger })
    await server().kill()
    const waiting = [database.run('INSERT INTO t (a) VALUES (1)'), database.get('SELECT 2 AS two')]
    await until(() => said.length > 0)
    await expect(database.withPatience(100).get('SELECT 1')).rejects.toMatchObject({ code: 'ERR_STORE_UNREACHABLE' })
    await server().start()
    expect(await Promise.all(waiting)).toEqual([{ changes: 1 }, { two: 2 }])
    expect(said).toEqual([
      expect.stringMatching(/^The job store does not respond.* Retrying\.$/),
      'The job store responds again.',
    ])
  })

  it('says that a statement timeout is too short', async () => {
    const said: string[] = []
    const logger: Logger = { ...silentLogger, warn: (_, message) => said.push(message) }
    server().query("ALTER ROLE voxmux SET statement_timeout = '100ms'")
    try {
      const database = await opened({ logger })
      const slow = database.withPatience(300).get('SELECT pg_sleep(30)')
      await expect(slow).rejects.toMatchObject({ message: expect.stringContaining('statement_timeout') })
    } finally {
      server().query('ALTER ROLE voxmux RESET statement_timeout')
    }
    expect(said).toEqual([expect.stringContaining('statement_timeout')])
  })

  it('tells its listeners, also after the server was away', async () => {
    const [one, other] = [await opened({ prefix: 'news' }), await opened({ prefix: 'news' }, SCHEMA)]
    const heard: string[] = []
    const listening = await one.listen('files', (text) => heard.push(text))
    await until(() => listening.isHearing())
    await other.notify('files', 'first')
    await other.transaction((tx) => tx.notify('files', 'second'))
    await other.notify('else', 'third')
    await until(() => heard.length === 2)
    await server().restart()
    await until(() => listening.isHearing())
    await other.notify('files', 'fourth')
    await until(() => heard.length === 3)
    expect(heard).toEqual(['first', 'second', 'fourth'])
    await listening.stop()
  })

  it('updates the tables once, however many processes start', async () => {
    const prefix = 'many'
    const later = [...SCHEMA, "ALTER TABLE t ADD COLUMN e TEXT NOT NULL DEFAULT 'new'"]
    await opened({ prefix })
    await Promise.all(Array.from({ length: 5 }, () => opened({ prefix }, later)))
    await expect(open({ prefix })).rejects.toMatchObject({ code: 'ERR_DATABASE_NEWER', exitCode: 2 })
  })

  it('updates the tables after a transaction of the version before, which goes on with them', async () => {
    const prefix = 'both'
    const old = await opened({ prefix })
    const later = [...SCHEMA, "ALTER TABLE t ADD COLUMN e TEXT NOT NULL DEFAULT 'new'"]
    const waiting = () => server().query("SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'")
    let updating: Promise<Database> | undefined
    await old.transaction(async (tx) => {
      await tx.run('INSERT INTO t (a) VALUES (1)')
      updating = opened({ prefix }, later)
      await until(() => waiting().length > 0)
      await tx.run('UPDATE t SET a = 2')
    })
    const updated = await updating
    await old.transaction((tx) => tx.run('INSERT INTO t (a) VALUES (3)'))
    expect(await updated?.all('SELECT a, e FROM t ORDER BY a')).toEqual([2, 3].map((a) => ({ a, e: 'new' })))
    expect(await old.all('SELECT a FROM t ORDER BY a')).toEqual([{ a: 2 }, { a: 3 }])
  })
})

function addressOf(server: PostgresServer, port = server.port) {
  return { hosts: [{ host: '127.0.0.1', port }], user: 'voxmux', database: 'voxmux', ssl: false } as const
}
