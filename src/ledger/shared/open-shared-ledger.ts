import { UsageError } from '../../core/errors.js'
import type { Ledger, SharedLedgerOptions } from '../ledger.js'

/**
 * Opens a ledger on Redis that any number of machines share. BullMQ and ioredis are loaded only here.
 *
 * @param address `redis://[user:password@]host[:port][/number]`, `rediss://…`; for sentinels and replicas see `parseRedisAddress`
 * @throws UsageError `ERR_STORE_NOT_INSTALLED`, `ERR_STORE_ADDRESS`, `ERR_STORE_REFUSED`; TransientError
 *   `ERR_STORE_UNREACHABLE`. Later calls throw `ERR_STORE_FULL` and `ERR_STORE_UNREACHABLE` once their patience is over
 */
export async function openSharedLedger(address: string, options: SharedLedgerOptions = {}): Promise<Ledger> {
  const { openRedisLedger } = await import('../redis/open-redis-ledger.js').catch(storePackagesMissing)
  return openRedisLedger(address, options)
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
