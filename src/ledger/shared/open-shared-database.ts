import { packageMissing } from '../../core/optional-package.js'
import type { Database, Migration } from '../database/database.js'
import type { SharedStoreReport } from '../database/inspect-postgres.js'
import type { PostgresOptions } from '../database/postgres-database.js'
import { LEDGER_MIGRATIONS } from '../database/schema.js'
import { type FileNews, type Ledger, ledgerIn, type SharedLedgerOptions } from '../ledger.js'
import { parseStoreAddress } from './store-address.js'

/** Converts a failed import of the files that need the package pg. */
const postgresMissing = packageMissing('ERR_STORE_NOT_INSTALLED', 'A shared store needs', 'pg@8')

/**
 * Opens tables in a PostgreSQL that any number of machines share. The package pg is loaded only here.
 *
 * @param address see `parseStoreAddress`
 * @throws UsageError `ERR_STORE_NOT_INSTALLED`, and as `parseStoreAddress` and `openPostgresDatabase` do
 */
export async function openSharedDatabase(
  address: string,
  migrations: readonly Migration[],
  options: PostgresOptions,
): Promise<Database> {
  const parsed = parseStoreAddress(address)
  const { openPostgresDatabase } = await import('../database/postgres-database.js').catch(postgresMissing)
  return openPostgresDatabase(parsed, migrations, options)
}

/** Reads the settings and the state of a store's server. @throws as `openSharedDatabase` does */
export async function inspectSharedStore(address: string): Promise<SharedStoreReport> {
  const parsed = parseStoreAddress(address)
  const { inspectPostgres } = await import('../database/inspect-postgres.js').catch(postgresMissing)
  return inspectPostgres(parsed, LEDGER_MIGRATIONS.length)
}

/**
 * Opens a ledger on PostgreSQL that any number of machines share. Creates its tables if they do not exist.
 *
 * @param address see `parseStoreAddress`
 * @throws as `openSharedDatabase` does
 */
export async function openSharedLedger(address: string, options: SharedLedgerOptions = {}): Promise<Ledger> {
  const database = await openSharedDatabase(address, LEDGER_MIGRATIONS, { prefix: 'ledger', ...options })
  const news: FileNews = {
    tell: (fileId) => database.notify('files', fileId),
    listen: async (hear) => (await database.listen('files', hear)).stop,
  }
  try {
    return { ...(await ledgerIn(database, options)), news }
  } catch (error) {
    await database.close()
    throw error
  }
}
