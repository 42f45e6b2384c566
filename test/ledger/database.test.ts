import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSqliteFile, type SqliteFile, type SqlValue } from '../../src/ledger/index.js'
import { LISTS_LOCKS, locksOn } from '../helpers/system/file-locks.js'
import { runScript } from './run-script.js'
import { tempFolder } from './temp-folder.js'

const SCHEMA = ['CREATE TABLE t (a INTEGER, b TEXT, c);\nCREATE INDEX t_a ON t (a);']

function opened(file: string, migrations: readonly string[] = SCHEMA): SqliteFile {
  const database = openSqliteFile(file, migrations)
  onTestFinished(() => database.close())
  return database
}

const newFile = () => join(tempFolder(), 'state', 'test.db')

it.skipIf(process.platform === 'win32')(
  'makes folder and files for the owner alone (not on Windows, which has no modes)',
  () => {
    const file = newFile()
    opened(file).run('INSERT INTO t VALUES (1, 2, 3)')
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700)
    for (const name of [file, `${file}-wal`, `${file}-shm`]) expect(statSync(name).mode & 0o777).toBe(0o600)
  },
)

it('waits for the disk unless what it holds may be lost', () => {
  const synchronous = (database: SqliteFile) => database.get('PRAGMA synchronous')?.synchronous
  expect(synchronous(opened(newFile()))).toBe(2)
  const database = openSqliteFile(newFile(), SCHEMA, 'crash')
  onTestFinished(() => database.close())
  expect(synchronous(database)).toBe(1)
})

it.each<[SqlValue, string, unknown]>([
  ['text', 'text', 'text'],
  ['', 'text', ''],
  [null, 'null', null],
  [Date.UTC(2026, 0), 'integer', Date.UTC(2026, 0)],
  [-(2 ** 52), 'integer', -(2 ** 52)],
  [2n ** 62n, 'integer', 2n ** 62n],
  [0.1, 'real', 0.1],
  [new Uint8Array([0, 255]), 'blob', new Uint8Array([0, 255])],
  [Buffer.from('x'), 'blob', new Uint8Array([120])],
])('binds %s alone or among others and gives back what went in', (value, type, expected) => {
  const database = opened(newFile())
  database.run('INSERT INTO t (c) VALUES (?)', [value])
  expect(database.get('SELECT c, typeof(c) AS type FROM t')).toEqual({ c: expected, type })
})

it.each([true, new Date(0), undefined, {}, Symbol('x')])(
  'refuses to bind %s instead of aborting the process',
  (value) => {
    const database = opened(newFile())
    expect(() => database.run('INSERT INTO t (c) VALUES (?)', [value as never])).toThrow(/cannot be bound/)
    expect(database.all('SELECT * FROM t')).toEqual([])
  },
)

it('does all of a transaction or nothing', () => {
  const file = newFile()
  const [one, other] = [opened(file), opened(file)]
  expect(() =>
    one.transaction(() => {
      one.run('INSERT INTO t (a) VALUES (1)')
      one.transaction(() => one.run('INSERT INTO t (a) VALUES (2)'))
      throw new Error('stop')
    }),
  ).toThrow('stop')
  expect(other.all('SELECT * FROM t')).toEqual([])
  one.transaction(() => one.run('INSERT INTO t (a) VALUES (3)'))
  expect(other.all('SELECT a FROM t')).toEqual([{ a: 3 }])
})

it('keeps no read open that would hide what others write', () => {
  const file = newFile()
  const [one, other] = [opened(file), opened(file)]
  for (let n = 1; n < 4; n += 1) {
    other.run('INSERT INTO t (a) VALUES (?)', [n])
    expect(one.get('SELECT count(*) AS n FROM t')).toEqual({ n })
    one.run('UPDATE t SET b = ?', [String(n)])
    expect(other.get('SELECT b FROM t')).toEqual({ b: String(n) })
  }
})

it('brings an older schema up to date and keeps what is in it', () => {
  const file = newFile()
  opened(file).run('INSERT INTO t (a) VALUES (7)')
  const later = opened(file, [...SCHEMA, "ALTER TABLE t ADD COLUMN d TEXT NOT NULL DEFAULT 'new'"])
  expect(later.get('SELECT a, d FROM t')).toEqual({ a: 7, d: 'new' })
})

it('leaves no half of a migration that fails', () => {
  const file = newFile()
  opened(file)
  expect(() => opened(file, [...SCHEMA, 'CREATE TABLE u (x); CREATE TABLE t (y);'])).toThrow(/already exists/)
  expect(opened(file).get("SELECT name FROM sqlite_master WHERE name = 'u'")).toBeUndefined()
})

it('tells a newer schema, a foreign file, text and damage apart, and touches none of them', () => {
  const folder = tempFolder()
  const newer = join(folder, 'newer.db')
  opened(newer, [...SCHEMA, 'CREATE TABLE u (x)']).close()
  const foreign = join(folder, 'foreign.db')
  const other = openSqliteFile(foreign, SCHEMA)
  other.all('PRAGMA application_id = 1')
  other.all('PRAGMA journal_mode = DELETE')
  other.close()
  const text = join(folder, 'text.db')
  writeFileSync(text, 'not a database '.repeat(100))
  for (const [file, code] of [
    [newer, 'ERR_DATABASE_NEWER'],
    [foreign, 'ERR_DATABASE_FOREIGN'],
    [text, 'ERR_DATABASE_CORRUPT'],
  ] as const) {
    const before = readFileSync(file)
    expect(() => openSqliteFile(file, SCHEMA)).toThrow(expect.objectContaining({ code, exitCode: 2, input: file }))
    expect(readFileSync(file).equals(before)).toBe(true)
  }
})

it('says that a file is damaged when that shows only later', () => {
  const file = newFile()
  const first = openSqliteFile(file, SCHEMA)
  first.transaction(() => {
    for (let n = 0; n < 500; n += 1) first.run('INSERT INTO t (a, b) VALUES (?, ?)', [n, 'x'.repeat(200)])
  })
  first.all('PRAGMA wal_checkpoint(TRUNCATE)')
  first.close()
  truncateSync(file, 8192)
  expect(() => opened(file).all('SELECT * FROM t')).toThrow(
    expect.objectContaining({ code: 'ERR_DATABASE_CORRUPT', remedies: [expect.stringContaining('aside')] }),
  )
})

it('says that the path cannot be a database', () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'file'), '')
  mkdirSync(join(folder, 'folder'))
  for (const file of [join(folder, 'folder'), join(folder, 'file', 'x.db')])
    expect(() => openSqliteFile(file, SCHEMA)).toThrow(
      expect.objectContaining({ code: 'ERR_DATABASE_NOT_WRITABLE', exitCode: 2 }),
    )
})

it.skipIf(process.platform === 'win32')(
  'says that a folder may not be written to (not on Windows, which has no modes)',
  () => {
    const folder = tempFolder()
    mkdirSync(join(folder, 'locked'), { mode: 0o500 })
    const asUser = process.getuid?.() === 0
    // Root may write everywhere: be somebody else for a moment.
    if (asUser) process.seteuid?.(65534)
    try {
      const open = () => openSqliteFile(join(folder, 'locked', 'x.db'), SCHEMA)
      expect(open).toThrow(expect.objectContaining({ code: 'ERR_DATABASE_NOT_WRITABLE', exitCode: 2 }))
    } finally {
      if (asUser) process.seteuid?.(0)
    }
    expect(existsSync(join(folder, 'locked', 'x.db'))).toBe(false)
  },
)

it('takes a full disk as something that passes, and goes on afterwards', () => {
  const database = opened(newFile())
  database.all('PRAGMA max_page_count = 10')
  const fill = () => database.run('INSERT INTO t (b) VALUES (?)', ['x'.repeat(100_000)])
  const full = expect.objectContaining({ code: 'ERR_DISK_FULL', exitCode: 4 })
  expect(fill).toThrow(full)
  expect(() => database.transaction(fill)).toThrow(full)
  database.all('PRAGMA max_page_count = 10000')
  database.transaction(fill)
  expect(database.all('SELECT length(b) AS n FROM t')).toEqual([{ n: 100_000 }])
})

it.runIf(LISTS_LOCKS)('keeps its locks when the file is opened and closed again beside it', async () => {
  const file = newFile()
  const first = opened(file)
  const locks = locksOn(file)
  expect(locks).toHaveLength(1)
  const second = opened(file)
  expect(locksOn(file)).toEqual(locks)
  second.run('INSERT INTO t (a) VALUES (1)')
  second.close()
  second.close()
  expect(locksOn(file)).toEqual(locks)

  // Another process that comes and goes must not take itself for the last one and delete the WAL.
  const wal = statSync(`${file}-wal`).ino
  const seen = await runScript(`
    import { openSqliteFile } from 'src/ledger/index.js'
    const database = openSqliteFile(${JSON.stringify(file)}, ${JSON.stringify(SCHEMA)})
    process.stdout.write(JSON.stringify(database.all('SELECT a FROM t')))
    database.close()
  `)
  expect(seen).toEqual([{ a: 1 }])
  expect(statSync(`${file}-wal`).ino).toBe(wal)
  first.run('INSERT INTO t (a) VALUES (2)')
  expect(opened(file).all('SELECT a FROM t')).toEqual([{ a: 1 }, { a: 2 }])
})

it('has everything in the main file once it is closed', () => {
  const [file, copy] = [newFile(), join(tempFolder(), 'copy.db')]
  const [first, second] = [opened(file), opened(file)]
  for (let n = 0; n < 50; n += 1) first.run('INSERT INTO t (a) VALUES (?)', [n])
  second.close()
  first.close()
  copyFileSync(file, copy)
  expect(opened(copy).get('SELECT count(*) AS n FROM t')).toEqual({ n: 50 })
})

it('is as durable as the strictest of its users asks for', () => {
  const file = newFile()
  const lax = openSqliteFile(file, SCHEMA, 'crash')
  opened(file)
  openSqliteFile(file, SCHEMA, 'crash').close()
  expect(lax.get('PRAGMA synchronous')).toEqual({ synchronous: 2 })
  lax.close()
})
