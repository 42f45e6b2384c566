import type { Database, Dialect, Migration, Statements } from './database.js'
import { openSqliteFileLater } from './sqlite-file.js'

export const SQLITE: Dialect = {
  forUpdate: '',
  lockFree: '',
  lockUnused: '',
  keep: '',
  isIn: (column, select) => `${column} IN (${select})`,
  isOneOf: (expression, placeholder) => `${expression} IN (SELECT value FROM json_each(${placeholder}))`,
  jsonText: (column, name) => `json_extract(${column}, '$.${name}')`,
}

/**
 * Opens a SQLite file as a {@link Database}. Statements and transactions of one process are queued, because they share
 * a connection: an `await` within a transaction lets no other statement into it.
 *
 * @param options `now` in Unix milliseconds; default: the system clock
 * @throws as `openSqliteFile` does
 */
export async function openSqliteDatabase(
  file: string,
  migrations: readonly Migration[],
  { now = Date.now }: { readonly now?: (() => number) | undefined } = {},
): Promise<Database> {
  const scripts = migrations.map((migration) => (typeof migration === 'string' ? migration : migration.sqlite))
  const opened = await openSqliteFileLater(file, scripts)
  const within: Statements = {
    dialect: SQLITE,
    run: async (...args) => opened.run(...args),
    get: async (...args) => opened.get(...args),
    all: async (...args) => opened.all(...args),
  }
  const database: Database = {
    dialect: SQLITE,
    run: (...args) => opened.later(() => opened.run(...args)),
    get: (...args) => opened.later(() => opened.get(...args)),
    all: (...args) => opened.later(() => opened.all(...args)),
    transaction: (work) => opened.transactionLater(() => work({ ...within, nowMs: now(), notify: async () => {} })),
    nowMs: now,
    notify: async () => {},
    listen: async () => ({ isHearing: () => false, stop: async () => {} }),
    withPatience: () => database,
    close: () => opened.later(() => opened.close()),
  }
  return database
}
