import type { Logger } from '../../core/logger.js'
import { type Accounts, LOCAL_ACCOUNT } from '../store/accounts.js'
import type { ApiKeys } from './api-keys.js'

/** A key that its node does not renew any more ends after this: that is what a killed process leaves behind. */
const LIFETIME_MS = 3600_000
const RENEWAL_MS = 10 * 60_000

/** The keys that a process makes for itself: of the local account, renewed while the node runs, gone when it ends. */
export class NodeKeys {
  private readonly clientIds = new Set<string>()
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
    this.clientIds.add(clientId)
    return { clientId, clientSecret }
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    for (const clientId of this.clientIds)
      await this.keys.forget(clientId).catch((err: unknown) => this.logger.warn({ err }, 'A key ends by its time.'))
  }

  private renew(): void {
    for (const clientId of this.clientIds)
      this.keys
        .extend(clientId, Date.now() + LIFETIME_MS)
        .catch((err: unknown) => this.logger.warn({ err }, 'A key could not be renewed; tried again.'))
  }
}
