import { randomBytes, randomUUID } from 'node:crypto'
import type { Database } from '../../ledger/index.js'
import { DeliveryLog } from '../webhooks/delivery-log.js'
import { Outbox } from '../webhooks/outbox.js'
import { WebhookTargets } from '../webhooks/webhook-target.js'
import { Accounts } from './accounts.js'
import { Files } from './files.js'
import { KeyRecords } from './key-records.js'
import { SigningKeyRecords } from './signing-key-records.js'
import { lockedSetting } from './sql/locked-setting.js'

/**
 * Everything that the nodes of a service share, except the bytes of the files. Every method is atomic. Repeating it,
 * because the response was lost, has no further effect.
 */
export interface ServiceStore {
  readonly accounts: Accounts
  readonly keys: KeyRecords
  readonly signingKeys: SigningKeyRecords
  readonly files: Files
  readonly targets: WebhookTargets
  readonly outbox: Outbox
  readonly log: DeliveryLog
  /** Writes a value unless the name has one. @returns the stored value */
  keepFirst(name: string, value: string): Promise<string>
  /** Reserves a task for one node at a time and for this duration. @returns false if another node has reserved it */
  takeTurn(name: string, owner: string, forMs: number): Promise<boolean>
}

/** The identity of a service, the same for all of its nodes and ports. */
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

/** Reads the identity of the service, or creates it. Nodes that start at the same time agree on one. */
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

/** The service's store in a database with the tables of `SERVICE_MIGRATIONS`. */
export function sqlStore(database: Database): ServiceStore {
  return {
    accounts: new Accounts(database),
    keys: new KeyRecords(database),
    signingKeys: new SigningKeyRecords(database),
    files: new Files(database),
    targets: new WebhookTargets(database),
    outbox: new Outbox(database),
    log: new DeliveryLog(database),
    async keepFirst(name, value) {
      const find = () => database.get('SELECT value FROM setting WHERE name = ?', [name])
      // Read first: a start on a known store then needs no write.
      const insert = 'INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING'
      const known = await find()
      if (!known) await database.run(insert, [name, value])
      return String((known ?? (await find()))?.value)
    },
    takeTurn: (name, owner, forMs) =>
      database.transaction(async (tx) => {
        const held = await lockedSetting(tx, `turn:${name}`)
        const [, untilMs, holder] = /^(\S+) (.*)$/.exec(held) ?? []
        if (holder !== owner && Number(untilMs ?? 0) > tx.nowMs) return false
        const turn = [`${tx.nowMs + forMs} ${owner}`, `turn:${name}`]
        await tx.run('UPDATE setting SET value = ? WHERE name = ?', turn)
        return true
      }),
  }
}
