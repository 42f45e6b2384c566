import { join } from 'node:path'
import { type Config, ensureStateFolder, refuseShownPassword } from '../config/index.js'
import { type Logger, silentLogger } from '../core/logger.js'
import { type Ledger, MappedJobStore, openLedger, openSharedLedger, PathRoots } from '../jobs/index.js'

const DAY_MS = 24 * 3600 * 1000

/**
 * Opens the ledger that is configured: the one on Redis that machines share, with the paths of this machine, or the
 * SQLite file of this machine alone.
 *
 * @throws UsageError `ERR_STORE_PASSWORD_SHOWN`, and as `openLedger` and `openSharedLedger` do
 */
export async function openStore(config: Config, logger: Logger = silentLogger): Promise<Ledger> {
  const keepVoicesMs = config.keepVoicesDays * DAY_MS
  if (config.store === null) {
    const file = config.ledger ?? join(await ensureStateFolder(config.stateDir), 'ledger.sqlite')
    return openLedger(file, { keepVoicesMs })
  }
  if (config.origins.get('store')?.kind === 'flag') refuseShownPassword(config.store)
  const ledger = await openSharedLedger(config.store, { logger, keepVoicesMs })
  return { ...ledger, jobs: new MappedJobStore(ledger.jobs, new PathRoots(config.paths), { logger }) }
}
