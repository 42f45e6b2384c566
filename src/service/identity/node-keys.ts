import type { Logger } from '../../core/logger.js'
import { type Accounts, LOCAL_ACCOUNT } from '../store/accounts.js'
import type { ApiKeys } from './api-keys.js'

/** A key ends after this time if its node stops renewing it. A killed process leaves such a key behind. */
const LIFETIME_MS = 3600_000
/** Renews early, so that other nodes of the store accept the key too. */
const RENEWAL_MS = 10 * 60_000

/** Keys that a process creates for itself. They belong to the local account and live as long as the node. */
export function nodeKeys(keys: ApiKeys, accounts: Accounts, logger: Logger) {
  const renew = () =>
    keys.renewOwn().catch((err: unknown) => logger.warn({ err }, 'A key could not be renewed. Its next use renews it.'))
  const timer = setInterval(renew, RENEWAL_MS).unref()
  return {
    async create(name: string) {
      const user = await accounts.ensure(LOCAL_ACCOUNT)
      const { clientId, clientSecret } = await keys.createPassing(user.id, name, LIFETIME_MS)
      return { clientId, clientSecret }
    },
    async close() {
      clearInterval(timer)
      await keys
        .forgetOwn()
        .catch((err: unknown) => logger.warn({ err }, 'A key could not be removed. It expires by itself.'))
    },
  }
}
