import { ApiKeys } from '../identity/api-keys.js'
import { SigningKeys } from '../identity/signing-keys.js'
import { Accounts } from '../store/accounts.js'
import { openServiceDatabase, type ServiceIdentity } from '../store/service-database.js'
import { DeliveryLog } from '../webhooks/delivery-log.js'
import { WebhookTargets } from '../webhooks/webhook-target.js'

/** What an operator sets and sees, on the data folder itself: nodes that run on it notice at once. */
export interface Portal {
  readonly identity: Pick<ServiceIdentity, 'serviceId' | 'tenantId' | 'scope'>
  readonly accounts: Accounts
  readonly keys: ApiKeys
  readonly webhooks: WebhookTargets
  readonly deliveries: DeliveryLog
  readonly signingKeys: Pick<SigningKeys, 'replace'>
  close(): void
}

/** Opens the portal of a data folder, running or not. @throws what `openDatabase` throws */
export function openPortal(dataDir: string): Portal {
  const { database, identity } = openServiceDatabase(dataDir)
  return {
    identity,
    accounts: new Accounts(database),
    keys: new ApiKeys(database),
    webhooks: new WebhookTargets(database),
    deliveries: new DeliveryLog(database),
    signingKeys: new SigningKeys(database, Number.POSITIVE_INFINITY),
    close: () => database.close(),
  }
}
