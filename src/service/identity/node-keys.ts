import type { Logger } from '../../core/logger.js'
import { type Accounts, LOCAL_ACCOUNT } from '../store/accounts.js'
import type { ApiKeys } from './api-keys.js'

/** A key ends after this time if its node stops renewing it. A killed process leaves such a key behind. */
const LIFETIME_MS = 3600_000
/** Renews early, so that other nodes of the store accept the key too. */
const RENEWAL_MS = 10 * 60_000

/** Keys that a process creates for itself. They belong to the local account and live as long as the node. */
export class NodeKeys {
  private readonly timer: NodeJS.Timeout

  constructor(
    private readonly keys: ApiKeys,
    private readonly accounts: Accounts,
    private readonly logger: Logger,
  ) {
    this.timer = setInterval(() => this.renew(), RENEWAL_MS)
    this.timer.unref()
  }

  async create(name: string): Promise<{ clientId: string; clientSecret: string }> {
    const user = await this.accounts.ensure(LOCAL_ACCOUNT)
    const { clientId, clientSecret } = await this.keys.createPassing(user.id, name, LIFETIME_MS)
    return { clientId, clientSecret }
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    await this.keys
      .forgetOwn()
      .catch((err: unknown) => this.logger.warn({ err }, 'A key could not be removed. It expires by itself.'))
  }

  private renew(): void {
    this.keys
      .renewOwn()
      .catch((err: unknown) => this.logger.warn({ err }, 'A key could not be renewed. Its next use renews it.'))
  }
}
