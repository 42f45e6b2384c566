import { closeSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import Libsql from 'libsql'
import { makeFolder } from '../core/make-folder.js'
import { syncFolderNow } from '../core/sync-folder.js'
import { databaseError, foreignDatabase, newerDatabase } from './database-errors.js'

/** What may be bound to a statement. A boolean is stored as 0 or 1 by whoever owns the column, a date as milliseconds. */
export type SqlValue = string | number | bigint | Uint8Array | null

/** A row as it is read: integers are numbers where they fit exactly and bigints beyond. */
export type Row = Readonly<Record<string, string | number | bigint | Uint8Array | null>>

/** An open SQLite file that many processes share. Synchronous: keep transactions short. */
export interface Database {
  /** Runs one statement that changes something. */
  run(sql: string, values?: readonly SqlValue[]): { readonly changes: number }
  /** First row, or undefined. */
  get(sql: string, values?: readonly SqlValue[]): Row | undefined
  all(sql: string, values?: readonly SqlValue[]): Row[]
  /**
   * Runs `work` in one `BEGIN IMMEDIATE` transaction: it sees no other writer, and all of it happens or nothing.
   * `work` must be synchronous. Inside another transaction it becomes part of that one.
   */
  transaction<T>(work: () => T): T
  close(): void
}

/** How long a statement waits for another process's transaction. */
const BUSY_TIMEOUT_MS = 10_000

/** What a transaction outlives once it has ended. `crash` waits for no disk: a power cut may undo the last ones. */
export type Durability = 'power-cut' | 'crash'

/** `VXMX`: marks the files that are ours. */
const APPLICATION_ID = 0x56584d58

/**
 * Opens (and makes, folder 0700, file 0600) a SQLite database in WAL mode and brings its schema up to date.
 *
 * @param migrations SQL scripts; the file's `user_version` is the number of them that it has had. Only ever append.
 * @param durability a recorded intent to pay must outlive a power cut; what can be found out anew need not
 * @throws UsageError `ERR_DATABASE_CORRUPT`, `ERR_DATABASE_NEWER`, `ERR_DATABASE_FOREIGN`, `ERR_DATABASE_NOT_WRITABLE`;
 * TransientError `ERR_DATABASE_BUSY`, `ERR_DISK_FULL`. Later statements throw the same.
 */
export function openDatabase(
  file: string,
  migrations: readonly string[],
  durability: Durability = 'power-cut',
): Database {
  const connection = connect(file)
  const database = wrap(connection, file)
  try {
    const synchronous = durability === 'power-cut' ? 'FULL' : 'NORMAL'
    for (const pragma of ['journal_mode = WAL', `synchronous = ${synchronous}`, 'foreign_keys = ON'])
      database.all(`PRAGMA ${pragma}`)
    migrate(database, (script) => connection.exec(script), file, migrations)
    return database
  } catch (thrown) {
    database.close()
    throw databaseError(thrown, file)
  }
}

function connect(file: string): Libsql.Database {
  try {
    for (const parent of makeFolder(dirname(file), 0o700)) syncFolderNow(parent)
    // SQLite gives its -wal and -shm the mode of the main file, so making that first covers all three.
    closeSync(openSync(file, 'a', 0o600))
    return new Libsql(file, { timeout: BUSY_TIMEOUT_MS })
  } catch (thrown) {
    throw databaseError(thrown, file)
  }
}

function wrap(connection: Libsql.Database, file: string): Database {
  const statements = new Map<string, Libsql.Statement>()
  let depth = 0

  const attempt = <T>(work: () => T): T => {
    try {
      return work()
    } catch (thrown) {
      throw databaseError(thrown, file)
    }
  }
  const statement = (sql: string) => {
    const known = statements.get(sql)
    if (known) return known
    const prepared = connection.prepare(sql).safeIntegers(true)
    statements.set(sql, prepared)
    return prepared
  }
  // `all` even for one row: libsql's `get` leaves the statement open, and with it a read transaction.
  const all = (sql: string, values: readonly SqlValue[] = []) => {
    const bound = values.map(bindable)
    return attempt(() => statement(sql).all(bound).map(readable))
  }

  return {
    all,
    get: (sql, values) => all(sql, values)[0],
    run(sql, values = []) {
      const bound = values.map(bindable)
      return attempt(() => ({ changes: Number(statement(sql).run(bound).changes) }))
    },
    transaction(work) {
      if (depth > 0) return work()
      attempt(() => connection.exec('BEGIN IMMEDIATE'))
      depth += 1
      try {
        const result = work()
        attempt(() => connection.exec('COMMIT'))
        return result
      } catch (error) {
        // A full disk makes SQLite roll back by itself.
        if (connection.inTransaction) connection.exec('ROLLBACK')
        throw error
      } finally {
        depth -= 1
      }
    },
    close() {
      statements.clear()
      connection.close()
    },
  }
}

/** libsql aborts the whole process on a boolean or a Date, and stores integers as floats: neither gets past here. */
function bindable(value: unknown): string | number | bigint | Buffer | null {
  if (value === null || typeof value === 'string' || typeof value === 'bigint') return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (value instanceof Uint8Array) return Buffer.from(value)
  const type = value instanceof Date ? 'Date' : typeof value
  throw new TypeError(`A value of type ${type} cannot be bound to a statement.`)
}

function readable(row: unknown): Row {
  return Object.fromEntries(Object.entries(row as Record<string, unknown>).map(([name, value]) => [name, plain(value)]))
}

function plain(value: unknown): Row[string] {
  if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) return Number(value)
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  return value as Row[string]
}

function migrate(
  database: Database,
  execute: (script: string) => void,
  file: string,
  migrations: readonly string[],
): void {
  const pragma = (name: string) => Number(database.get(`PRAGMA ${name}`)?.[name] ?? 0)
  const check = () => {
    const version = pragma('user_version')
    if (pragma('application_id') !== APPLICATION_ID && database.get('SELECT 1 FROM sqlite_master LIMIT 1'))
      throw foreignDatabase(file)
    if (version > migrations.length) throw newerDatabase(file)
    return version
  }
  if (check() === migrations.length && migrations.length > 0) return
  database.transaction(() => {
    // Asked again: another process may have migrated while this one waited for the lock.
    for (const script of migrations.slice(check())) execute(script)
    database.all(`PRAGMA application_id = ${APPLICATION_ID}`)
    database.all(`PRAGMA user_version = ${migrations.length}`)
  })
}
