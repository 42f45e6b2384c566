import type { Database } from '../../../ledger/index.js'
import type { ServiceStore } from '../service-store.js'
import { lockedSetting } from './locked-setting.js'
import { SqlAccounts } from './sql-accounts.js'
import { SqlDeliveryLog } from './sql-delivery-log.js'
import { SqlFiles } from './sql-files.js'
import { SqlKeyRecords } from './sql-key-records.js'
import { SqlOutbox } from './sql-outbox.js'
import { SqlSigningKeyRecords } from './sql-signing-key-records.js'
import { SqlWebhookTargets } from './sql-webhook-targets.js'

/** The service's store in a database with the tables of `SERVICE_MIGRATIONS`. */
export function sqlStore(database: Database): ServiceStore {
  return {
    accounts: new SqlAccounts(database),
    keys: new SqlKeyRecords(database),
    signingKeys: new SqlSigningKeyRecords(database),
    files: new SqlFiles(database),
    targets: new SqlWebhookTargets(database),
    outbox: new SqlOutbox(database),
    log: new SqlDeliveryLog(database),
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
