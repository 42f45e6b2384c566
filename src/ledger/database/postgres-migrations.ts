import { createHash } from 'node:crypto'
import type { Database, Transaction } from './database.js'
import { newerDatabase } from './database-errors.js'

/**
 * Creates and updates the tables of a prefix, one process at a time. Up-to-date tables are only read, so a role without
 * the right to create is enough then.
 *
 * @throws {UsageError} `ERR_DATABASE_NEWER`
 */
export async function migratePostgres(database: Database, prefix: string, scripts: readonly string[]): Promise<void> {
  const versions = `${prefix}_versions`
  const check = async (statements: Pick<Transaction, 'get'>) => {
    const found = await statements.get('SELECT to_regclass(?) AS found', [versions])
    if (!found?.found) return 0
    const row = await statements.get(`SELECT coalesce(max(version), 0) AS version FROM ${versions}`)
    const version = Number(row?.version)
    if (version > scripts.length) throw newerDatabase('The job store')
    return version
  }
  if ((await check(database)) === scripts.length) return
  await database.transaction(async (tx) => {
    // A number for the prefix, the same in every process.
    const lock = createHash('sha256').update(`voxmux ${prefix}`).digest().readInt32BE()
    await tx.get('SELECT pg_advisory_xact_lock(?)', [lock])
    // First of all: a lookup by name alone would not see a table that another process created a moment ago.
    await tx.run(`CREATE TABLE IF NOT EXISTS ${versions} (version BIGINT PRIMARY KEY)`)
    const version = await check(tx)
    for (const script of scripts.slice(version)) await tx.run(script)
    await tx.run(`INSERT INTO ${versions} VALUES (?) ON CONFLICT DO NOTHING`, [scripts.length])
  })
}
