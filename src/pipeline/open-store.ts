import { join } from 'node:path'
import { type Config, ensureStateFolder } from '../config/index.js'
import { UsageError } from '../core/errors.js'
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
  refuseShownPassword(config.store, config)
  const ledger = await openSharedLedger(config.store, { logger, keepVoicesMs })
  return { ...ledger, jobs: new MappedJobStore(ledger.jobs, new PathRoots(config.paths), { logger }) }
}

/** A command line stands in the list of processes, for every user of the machine to read. */
function refuseShownPassword(store: string, { origins }: Config): void {
  const { password } = new URL(store)
  if (password === '' || origins.get('store')?.kind !== 'flag') return
  throw new UsageError('ERR_STORE_PASSWORD_SHOWN', 'A password in --store can be read by every user of this machine.', {
    remedies: ['Put the address into VOXMUX_STORE, or into a configuration file that only you can read.'],
  })
}
