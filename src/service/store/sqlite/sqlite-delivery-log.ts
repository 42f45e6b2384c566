import type { SqliteFile } from '../../../ledger/index.js'
import type { DeliveryLog, DeliveryLogEntry } from '../../webhooks/delivery-log.js'
import type { SqliteContext } from './sqlite-context.js'

/** {@link DeliveryLog} in SQLite. */
export class SqliteDeliveryLog implements DeliveryLog {
  readonly #database: SqliteFile
  readonly #now: () => number

  constructor({ database, now }: SqliteContext) {
    this.#database = database
    this.#now = now
  }

  async latest(limit: number): Promise<DeliveryLogEntry[]> {
    return this.#database.all('SELECT * FROM webhook_log ORDER BY id DESC LIMIT ?', [limit]).map((row) => ({
      atMs: Number(row.at_ms),
      fileId: String(row.file_id),
      type: String(row.type),
      status: String(row.status),
      attempt: Number(row.attempt),
      method: String(row.method),
      url: String(row.url),
      outcome: row.outcome === 'delivered' || row.outcome === 'given-up' ? row.outcome : 'failed',
      detail: String(row.detail),
    }))
  }

  async forgetOld(forMs: number): Promise<void> {
    this.#database.run('DELETE FROM webhook_log WHERE at_ms < ?', [Math.floor(this.#now() - forMs)])
  }
}
