import type { Database } from '../../../ledger/index.js'
import type { DeliveryLog, DeliveryLogEntry } from '../../webhooks/delivery-log.js'

/** {@link DeliveryLog} in SQL. */
export class SqlDeliveryLog implements DeliveryLog {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async latest(limit: number): Promise<DeliveryLogEntry[]> {
    const rows = await this.#database.all('SELECT * FROM webhook_log ORDER BY id DESC LIMIT ?', [limit])
    return rows.map((row) => ({
      id: Number(row.id),
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
    await this.#database.transaction((tx) =>
      tx.run('DELETE FROM webhook_log WHERE at_ms < ?', [Math.floor(tx.nowMs - forMs)]),
    )
  }
}
