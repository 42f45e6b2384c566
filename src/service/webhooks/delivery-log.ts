import type { Database } from '../../ledger/index.js'
/** One attempt to deliver an event, for operators. */
export interface DeliveryLogEntry {
  readonly id: number
  readonly atMs: number
  readonly fileId: string
  readonly type: string
  readonly status: string
  readonly attempt: number
  readonly method: string
  /** Without its query. */
  readonly url: string
  readonly outcome: 'delivered' | 'failed' | 'given-up'
  /** Status of the response, or the reason of the failure. */
  readonly detail: string
}

/** Log of the webhooks, with an entry for each attempt. */
export class DeliveryLog {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** The latest entries, newest first. */
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

  /** Deletes entries older than this. */
  async forgetOld(forMs: number): Promise<void> {
    await this.#database.transaction((tx) =>
      tx.run('DELETE FROM webhook_log WHERE at_ms < ?', [Math.floor(tx.nowMs - forMs)]),
    )
  }
}
