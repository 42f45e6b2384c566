import type { SharedStoreReport } from '../shared-store-report.js'
import { postgresMissing } from './open-shared-database.js'
import { parseStoreAddress } from './store-address.js'

/**
 * Reads the settings and the state of a store's server.
 *
 * @throws as `openSharedDatabase` does
 */
export async function inspectSharedStore(address: string): Promise<SharedStoreReport> {
  const parsed = parseStoreAddress(address)
  const { inspectPostgres } = await import('../database/inspect-postgres.js').catch(postgresMissing)
  return inspectPostgres(parsed)
}
