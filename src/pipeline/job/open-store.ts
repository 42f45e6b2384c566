import { join } from 'node:path'
import { type Config, ensureStateFolder } from '../../config/index.js'
import { UsageError } from '../../core/errors.js'
import { type Logger, silentLogger } from '../../core/logger.js'
import { DAY_MS } from '../../core/time.js'
import {
  hasPassword,
  type Ledger,
  mappedJobStore,
  mappedRows,
  openLedger,
  openSharedLedger,
  PathRoots,
} from '../../ledger/index.js'

/**
 * Opens the configured ledger: the shared one on PostgreSQL, with the paths of this machine, or this machine's own SQLite
 * file.
 *
 * @throws UsageError `ERR_STORE_PASSWORD_SHOWN`, and whatever `openLedger` and `openSharedLedger` throw
 */
export async function openStore(config: Config, logger: Logger = silentLogger): Promise<Ledger> {
  const keepVoicesMs = config.keepVoicesDays * DAY_MS
  if (config.store === null) {
    const file = config.ledger ?? join(await ensureStateFolder(config.stateDir), 'ledger.sqlite')
    return openLedger(file, { keepVoicesMs })
  }
  if (config.origins.get('store')?.kind === 'flag') refuseShownPassword(config.store)
  const ledger = await openSharedLedger(config.store, { logger, keepVoicesMs })
  const roots = new PathRoots(config.paths)
  return {
    ...ledger,
    jobs: mappedJobStore(ledger.jobs, roots, { logger }),
    rows: mappedRows(ledger.rows, roots),
  }
}

/**
 * Refuses a password in a flag: every user of the machine can read command lines in the list of processes.
 *
 * @param store address from a flag
 * @throws {UsageError} `ERR_STORE_PASSWORD_SHOWN`
 */
export function refuseShownPassword(store: string): void {
  if (!hasPassword(store)) return
  throw new UsageError('ERR_STORE_PASSWORD_SHOWN', 'A password in --store can be read by every user of this machine.', {
    remedies: ['Set the address in VOXMUX_STORE, or the password in PGPASSWORD or in a file that `passfile` names.'],
  })
}
