import { ApiKeys } from '../identity/api-keys.js'
import { SigningKeys } from '../identity/signing-keys.js'
import type { Accounts } from '../store/accounts.js'
import { openNodeStore, type StorePlace } from '../store/open-node-store.js'
import { readIdentity, type ServiceIdentity } from '../store/service-store.js'
import type { SigningKey } from '../store/signing-key-records.js'
import type { DeliveryLog } from '../webhooks/delivery-log.js'
import type { Outbox } from '../webhooks/outbox.js'
import type { WebhookTargets } from '../webhooks/webhook-target.js'

/** The settings and records of an operator, in the store itself. Running nodes see changes at once. */
export interface Portal {
  readonly identity: Pick<ServiceIdentity, 'serviceId' | 'tenantId' | 'scope'>
  readonly accounts: Accounts
  readonly keys: ApiKeys
  readonly webhooks: WebhookTargets
  readonly deliveries: DeliveryLog
  readonly outbox: Pick<Outbox, 'redeliver'>
  readonly signingKeys: { replace(): Promise<SigningKey> }
  close(): Promise<void>
}

/** Opens the portal of a service, whether it runs or not. @throws every error of `openNodeStore` */
export async function openPortal(place: StorePlace): Promise<Portal> {
  const { store, close } = await openNodeStore(place)
  try {
    return {
      identity: await readIdentity(store),
      accounts: store.accounts,
      keys: new ApiKeys(store.keys),
      webhooks: store.targets,
      deliveries: store.log,
      outbox: store.outbox,
      signingKeys: new SigningKeys(store.signingKeys, Number.POSITIVE_INFINITY),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
