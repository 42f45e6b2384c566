import { packageMissing } from '../../core/optional-package.js'
import type { Database, Migration } from '../database/database.js'
import type { PostgresOptions } from '../database/postgres-database.js'
import { parseStoreAddress } from './store-address.js'

/** Converts a failed import of the files that need the package pg. */
export const postgresMissing = packageMissing('ERR_STORE_NOT_INSTALLED', 'A shared store needs', 'pg@8')

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
