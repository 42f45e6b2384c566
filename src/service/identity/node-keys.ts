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
  ) {
    this.timer = setInterval(() => this.renew(), RENEWAL_MS)
    this.timer.unref()
  }

  create(name: string): { clientId: string; clientSecret: string } {
    const user = this.accounts.ensure(LOCAL_ACCOUNT)
    const { clientId, clientSecret } = this.keys.createPassing(user.id, name, LIFETIME_MS)
    this.clientIds.add(clientId)
    return { clientId, clientSecret }
  }

  close(): void {
    clearInterval(this.timer)
    for (const clientId of this.clientIds) this.keys.forget(clientId)
  }

  private renew(): void {
    for (const clientId of this.clientIds) this.keys.extend(clientId, Date.now() + LIFETIME_MS)
  }
}
