import { UsageError } from '../../core/errors.js'
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
  if (/^rediss?:/.test(address)) {
    const { openRedisLedger } = await import('../redis/open-redis-ledger.js').catch(storePackagesMissing)
    return openRedisLedger(address, options)
  }
  const database = await openSharedDatabase(address, LEDGER_MIGRATIONS, { prefix: 'ledger', ...options })
  try {
    return { ...(await ledgerIn(database, options)), news: new DatabaseFileNews(database) }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Converts a failed import of the store's files to an error. */
export function storePackagesMissing(cause: unknown): never {
  const { code } = cause as NodeJS.ErrnoException
  if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw cause
  throw new UsageError('ERR_STORE_NOT_INSTALLED', 'A job store on Redis needs two packages that are not installed.', {
    cause,
    remedies: ['npm install bullmq@6 ioredis@5'],
  })
}
