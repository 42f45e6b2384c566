import { statSync } from 'node:fs'
import { type Connection, connect, makeDatabaseFile, type Row, type SqliteFile, type SqlValue } from './connection.js'
import { databaseError, foreignDatabase, newerDatabase } from './database-errors.js'

export type { Row, SqliteFile, SqlValue }

/** The event that a finished transaction survives. `crash` does not wait for the disk: a power cut may undo the last ones. */
type Durability = 'power-cut' | 'crash'

/** `VXMX`: marks voxmux's database files. */
const APPLICATION_ID = 0x56584d58

/** The connections of this process, by device and inode. */
const shared = new Map<string, { readonly connection: Connection; users: number }>()

/**
 * Opens a SQLite database in WAL mode and updates its schema. Creates it if needed (folder 0700, file 0600). All users
 * of a file in one process share a connection, which closes with the last of them.
 *
 * @param migrations SQL scripts; the file's `user_version` counts those that have run. Only ever append.
 * @param durability a recorded intent to pay must survive a power cut; recoverable data need not. The strictest user of
 * a file decides.
 * @throws {UsageError} `ERR_DATABASE_CORRUPT`, `ERR_DATABASE_NEWER`, `ERR_DATABASE_FOREIGN`,
 * `ERR_DATABASE_NOT_WRITABLE`
 * @throws {TransientError} `ERR_DATABASE_BUSY`, `ERR_DISK_FULL`. Later statements throw the same errors.
 */
export function openSqliteFile(
  file: string,
  migrations: readonly string[],
  durability: Durability = 'power-cut',
): SqliteFile {
  const database = share(file)
  try {
    prepare(database, file, migrations, durability)
    return database
  } catch (thrown) {
    database.close()
    throw databaseError(thrown, file)
  }
}

/** As `openSqliteFile`, after the transactions that other users of the file in this process have begun. */
export async function openSqliteFileLater(file: string, migrations: readonly string[]): Promise<SqliteFile> {
  const database = share(file)
  try {
    await database.later(() => prepare(database, file, migrations, 'power-cut'))
    return database
  } catch (thrown) {
    database.close()
    throw databaseError(thrown, file)
  }
}

/**
 * Requires that this voxmux can use a database that exists, without updating it.
 *
 * @param newest version of the schema
 * @throws as {@link openSqliteFile}
 */
export function requireSqliteFile(file: string, newest: number): void {
  const database = share(file)
  try {
    usableVersion(database, file, newest)
  } catch (thrown) {
    throw databaseError(thrown, file)
  } finally {
    database.close()
  }
}

function prepare(database: Connection, file: string, migrations: readonly string[], durability: Durability): void {
  if (durability === 'power-cut') database.all('PRAGMA synchronous = FULL')
  migrate(database, file, migrations)
}

/** Joins the connection to a file, or creates it. */
function share(file: string): Connection {
  makeDatabaseFile(file)
  const id = fileId(file)
  const entry = shared.get(id) ?? { connection: connect(file, (opened) => requireOurs(opened, file)), users: 0 }
  shared.set(id, entry)
  entry.users += 1
  let isOpen = true
  return {
    ...entry.connection,
    close() {
      if (!isOpen) return
      isOpen = false
      entry.users -= 1
      if (entry.users > 0) return
      shared.delete(id)
      entry.connection.close()
    },
  }
}

function fileId(file: string): string {
  try {
    const { dev, ino } = statSync(file, { bigint: true })
    return `${dev}:${ino}`
  } catch (thrown) {
    throw databaseError(thrown, file)
  }
}

/** @throws {UsageError} `ERR_DATABASE_FOREIGN` */
function requireOurs(database: Connection, file: string): void {
  if (!database.get('SELECT 1 FROM sqlite_master LIMIT 1')) return
  // Read after the tables: another process may just have made both.
  const id = Number(database.get('PRAGMA application_id')?.application_id ?? 0)
  if (id !== APPLICATION_ID) throw foreignDatabase(file)
}

/** @throws {UsageError} `ERR_DATABASE_FOREIGN`, `ERR_DATABASE_NEWER` */
function usableVersion(database: Connection, file: string, newest: number): number {
  const version = Number(database.get('PRAGMA user_version')?.user_version ?? 0)
  requireOurs(database, file)
  if (version > newest) throw newerDatabase(file)
  return version
}

function migrate(database: Connection, file: string, migrations: readonly string[]): void {
  const check = () => usableVersion(database, file, migrations.length)
  if (check() === migrations.length && migrations.length > 0) return
  database.transaction(() => {
    // Checked again: another process may have migrated while this one waited for the lock.
    for (const script of migrations.slice(check())) database.exec(script)
    database.all(`PRAGMA application_id = ${APPLICATION_ID}`)
    database.all(`PRAGMA user_version = ${migrations.length}`)
  })
}
