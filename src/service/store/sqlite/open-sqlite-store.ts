import { join } from 'node:path'
import { openSqliteFile, type SqliteFile } from '../../../ledger/index.js'
import type { ServiceStore } from '../service-store.js'
import { SERVICE_MIGRATIONS } from './migrations.js'
import { SqliteAccounts } from './sqlite-accounts.js'
import type { SqliteContext } from './sqlite-context.js'
import { SqliteDeliveryLog } from './sqlite-delivery-log.js'
import { SqliteFiles } from './sqlite-files.js'
import { SqliteKeyRecords } from './sqlite-key-records.js'
import { SqliteOutbox } from './sqlite-outbox.js'
import { SqliteSigningKeyRecords } from './sqlite-signing-key-records.js'
import { SqliteWebhookTargets } from './sqlite-webhook-targets.js'

/**
 * Opens the service's store in its data folder, for any number of processes on one machine. Creates both if they do not
 * exist.
 *
 * @param now Unix milliseconds; default: the system clock
 * @throws every error of `openSqliteFile`
 */
export function openSqliteStore(dataDir: string, now: () => number = Date.now): ServiceStore & { close(): void } {
  const database = openSqliteFile(join(dataDir, 'service.db'), SERVICE_MIGRATIONS)
  const context: SqliteContext = { database, now }
  const outbox = new SqliteOutbox(context)
  return {
    accounts: new SqliteAccounts(context),
    keys: new SqliteKeyRecords(context),
    signingKeys: new SqliteSigningKeyRecords(context),
    files: new SqliteFiles(context, outbox),
    targets: new SqliteWebhookTargets(context),
    outbox,
    log: new SqliteDeliveryLog(context),
    keepFirst: async (name, value) => keepFirst(database, name, value),
    takeTurn: async (name, owner, forMs) => takeTurn(context, name, owner, forMs),
    close: () => database.close(),
  }
}

function keepFirst(database: SqliteFile, name: string, value: string): string {
  const find = () => database.get('SELECT value FROM setting WHERE name = ?', [name])
  // Read first: a start on a known folder then needs no write.
  if (!find()) database.run('INSERT OR IGNORE INTO setting (name, value) VALUES (?, ?)', [name, value])
  return String(find()?.value)
}

function takeTurn({ database, now }: SqliteContext, name: string, owner: string, forMs: number): boolean {
  return database.transaction(() => {
    const key = `turn:${name}`
    const held = String(database.get('SELECT value FROM setting WHERE name = ?', [key])?.value ?? '')
    const [, untilMs, holder] = /^(\S+) (.*)$/.exec(held) ?? []
    if (holder !== owner && Number(untilMs ?? 0) > now()) return false
    database.run('INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)', [key, `${now() + forMs} ${owner}`])
    return true
  })
}
