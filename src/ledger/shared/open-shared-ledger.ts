import { LEDGER_MIGRATIONS } from '../database/schema.js'
import { DatabaseFileNews } from '../file-news.js'
import { type Ledger, ledgerIn, type SharedLedgerOptions } from '../ledger.js'
import { openSharedDatabase } from './open-shared-database.js'

/**
 * Opens a ledger on PostgreSQL that any number of machines share. Creates its tables if they do not exist.
 *
 * @param address see `parseStoreAddress`
 * @throws as `openSharedDatabase` does
 */
export async function openSharedLedger(address: string, options: SharedLedgerOptions = {}): Promise<Ledger> {
  const database = await openSharedDatabase(address, LEDGER_MIGRATIONS, { prefix: 'ledger', ...options })
  try {
    return { ...(await ledgerIn(database, options)), news: new DatabaseFileNews(database) }
  } catch (error) {
    await database.close()
    throw error
  }
}
