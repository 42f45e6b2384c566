import { closeSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import Libsql from 'libsql'
import type { VoxmuxError } from '../../core/errors.js'
import { makeFolder } from '../../core/make-folder.js'
import { syncFolderNow } from '../../core/sync-folder.js'
import { databaseError } from './database-errors.js'

/** Values for a statement. The owner of the column stores a boolean as 0 or 1, and a date as milliseconds. */
export type SqlValue = string | number | bigint | Uint8Array | null

/** A row as read: an integer is a number if it fits exactly, else a bigint. */
export type Row = Readonly<Record<string, string | number | bigint | Uint8Array | null>>

/** An open SQLite file shared by many processes. Synchronous: keep transactions short. */
export interface SqliteFile {
  /** Runs one statement that changes data. */
  run(sql: string, values?: readonly SqlValue[]): { readonly changes: number }
  /** First row, or undefined. */
  get(sql: string, values?: readonly SqlValue[]): Row | undefined
  all(sql: string, values?: readonly SqlValue[]): Row[]
  /**
   * Runs `work` in one `BEGIN IMMEDIATE` transaction, alone among all writers and atomically. `work` must be
   * synchronous. Inside another transaction it becomes part of that one.
   */
  transaction<T>(work: () => T): T
  /** Runs `work` after all earlier `later` and `transactionLater` of this connection. */
  later<T>(work: () => T): Promise<T>
  /** Like `transaction`, for work that awaits. No other `later` work of this process runs meanwhile. */
  transactionLater<T>(work: () => Promise<T>): Promise<T>
  close(): void
}

/** How long a statement waits for another process's transaction. */
const BUSY_TIMEOUT_MS = 10_000
const BUSY_PAUSE_MS = 5

/** This process's only connection to a SQLite file. */
export interface Connection extends SqliteFile {
  /** Runs a script of several statements. */
  exec(script: string): void
}

/**
 * Makes the folder (0700) and an empty file (0600) if they do not exist. SQLite copies the mode of the main file to its
 * -wal and -shm. Never opens an existing file: when a process closes any descriptor of a file, it loses all of its
 * POSIX locks on it, including SQLite's.
 *
 * @throws as `openSqliteFile` does
 */
export function makeDatabaseFile(file: string): void {
  try {
    for (const parent of makeFolder(dirname(file), 0o700)) syncFolderNow(parent)
    closeSync(openSync(file, 'wx', 0o600))
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw databaseError(thrown, file)
  }
}

/**
 * Connects to a SQLite file in WAL mode. A power cut may undo the last transactions until `synchronous` is raised.
 *
 * @param requireOurs throws if the file is another program's, before anything is written into it
 * @throws as `openSqliteFile` does
 */
export function connect(file: string, requireOurs: (opened: Connection) => void): Connection {
  const connection = wrap(open(file), file)
  try {
    // WAL mode is written into the file.
    requireOurs(connection)
    enterWalMode(connection)
    for (const pragma of ['synchronous = NORMAL', 'foreign_keys = ON']) connection.all(`PRAGMA ${pragma}`)
    return connection
  } catch (thrown) {
    connection.close()
    throw thrown
  }
}

/** For this statement, SQLite does not wait for another process that opens a new file at the same moment. */
function enterWalMode(connection: Connection): void {
  const until = performance.now() + BUSY_TIMEOUT_MS
  for (;;) {
    try {
      connection.all('PRAGMA journal_mode = WAL')
      return
    } catch (thrown) {
      if ((thrown as VoxmuxError).code !== 'ERR_DATABASE_BUSY' || performance.now() >= until) throw thrown
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE_MS)
    }
  }
}

function open(file: string): Libsql.Database {
  try {
    return new Libsql(file, { timeout: BUSY_TIMEOUT_MS })
  } catch (thrown) {
    throw databaseError(thrown, file)
  }
}

function wrap(database: Libsql.Database, file: string): Connection {
  const prepared = new Map<string, Libsql.Statement>()
  const statements = statementsOf(database, file, prepared)
  return {
    ...statements,
    ...transactionsOf(database, statements.exec),
    close() {
      foldBack(database)
      prepared.clear()
      database.close()
    },
  }
}

type Statements = Pick<Connection, 'exec' | 'run' | 'get' | 'all'>

function statementsOf(database: Libsql.Database, file: string, prepared: Map<string, Libsql.Statement>): Statements {
  const attempt = <T>(work: () => T): T => {
    try {
      return work()
    } catch (thrown) {
      throw databaseError(thrown, file)
    }
  }
  const statement = (sql: string) => {
    const known = prepared.get(sql)
    if (known) return known
    const made = database.prepare(sql).safeIntegers(true)
    prepared.set(sql, made)
    return made
  }
  // Uses `all` even for one row: libsql's `get` leaves the statement open, and with it a read transaction.
  const all = (sql: string, values: readonly SqlValue[] = []) => {
    const bound = values.map(bindable)
    return attempt(() => statement(sql).all(bound).map(readable))
  }
  return {
    all,
    exec: (script) => attempt(() => void database.exec(script)),
    get: (sql, values) => all(sql, values)[0],
    run(sql, values = []) {
      const bound = values.map(bindable)
      return attempt(() => ({ changes: Number(statement(sql).run(bound).changes) }))
    },
  }
}

type Transactions = Pick<Connection, 'transaction' | 'later' | 'transactionLater'>

function transactionsOf(database: Libsql.Database, exec: Connection['exec']): Transactions {
  let depth = 0
  const begin = () => exec('BEGIN IMMEDIATE')
  const commit = () => exec('COMMIT')
  // SQLite rolls back by itself on a full disk.
  const rollBack = () => database.inTransaction && database.exec('ROLLBACK')

  let last: Promise<unknown> = Promise.resolve()
  const later = <T>(work: () => T | Promise<T>): Promise<T> => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }

  return {
    later,
    transaction(work) {
      if (depth > 0) return work()
      begin()
      depth += 1
      try {
        const result = work()
        commit()
        return result
      } catch (error) {
        rollBack()
        throw error
      } finally {
        depth -= 1
      }
    },
    transactionLater: (work) =>
      later(async () => {
        begin()
        try {
          const result = await work()
          commit()
          return result
        } catch (error) {
          rollBack()
          throw error
        }
      }),
  }
}

/**
 * Writes the WAL back into the main file, unless another process reads from it. SQLite does that at the last close.
 * libsql, however, finalises statements only at a garbage collection, so a process may end before its last close.
 */
function foldBack(connection: Libsql.Database): void {
  try {
    connection.exec('PRAGMA busy_timeout = 0')
    connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all()
  } catch {
    // The WAL keeps everything, and the next process that opens the file continues with it.
  }
}

/** Protects libsql from booleans and dates, which abort the process, and keeps integers from becoming floats. */
function bindable(value: unknown): string | number | bigint | Buffer | null {
  if (value === null || typeof value === 'string' || typeof value === 'bigint') return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (value instanceof Uint8Array) return Buffer.from(value)
  const type = value instanceof Date ? 'Date' : typeof value
  throw new TypeError(`A value of type ${type} cannot be bound to a statement.`)
}

/** Changes the row in place: libsql made it for this answer alone. */
function readable(row: unknown): Row {
  const values = row as Record<string, Row[string]>
  for (const name of Object.keys(values)) values[name] = plain(values[name])
  return values
}

function plain(value: unknown): Row[string] {
  if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) return Number(value)
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  return value as Row[string]
}
