import { randomBytes, randomUUID } from 'node:crypto'
import type { DeliveryLog } from '../webhooks/delivery-log.js'
import type { Outbox } from '../webhooks/outbox.js'
import type { WebhookTargets } from '../webhooks/webhook-target.js'
import type { Accounts } from './accounts.js'
import type { Files } from './files.js'
import type { KeyRecords } from './key-records.js'
import type { SigningKeyRecords } from './signing-key-records.js'

/**
 * Everything that the nodes of a service share but the bytes of the files. Every method is one step: all of it happens
 * or nothing, whatever other nodes do; done twice (the answer was lost on the way), it does no more than once.
 */
export interface ServiceStore {
  readonly accounts: Accounts
  readonly keys: KeyRecords
  readonly signingKeys: SigningKeyRecords
  readonly files: Files
  readonly targets: WebhookTargets
  readonly outbox: Outbox
  readonly log: DeliveryLog
  /** Writes a value unless there is one of that name. @returns what is there */
  keepFirst(name: string, value: string): Promise<string>
  /** Gives one node at a time leave to do something, for so long. @returns false where it is another's turn */
  takeTurn(name: string, owner: string, forMs: number): Promise<boolean>
}

/** What a service is, whichever node serves it and on whatever port. */
export interface ServiceIdentity {
  /** The identity of the embedded service for cache and ledger. */
  readonly serviceId: string
  readonly tenantId: string
  /** `api://<application id>`: audience of the access tokens. */
  readonly audience: string
  /** `api://<application id>/.default`. */
  readonly scope: string
  /** Key of the signed storage links, shared by all nodes. */
  readonly linkSecret: string
}

/** The identity of the service in a store, made at first sight: nodes that start at once agree on it. */
export async function readIdentity(store: Pick<ServiceStore, 'keepFirst'>): Promise<ServiceIdentity> {
  const applicationId = await store.keepFirst('application_id', randomUUID())
  return {
    serviceId: await store.keepFirst('service_id', randomUUID()),
    tenantId: await store.keepFirst('tenant_id', randomUUID()),
    audience: `api://${applicationId}`,
    scope: `api://${applicationId}/.default`,
    linkSecret: await store.keepFirst('link_secret', randomBytes(32).toString('base64url')),
  }
}
