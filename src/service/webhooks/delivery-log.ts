import { redactUrl } from '../../core/redact.js'
import type { Database } from '../../jobs/index.js'
import type { OutgoingEvent } from './outbox.js'
import type { WebhookTarget } from './webhook-target.js'

/** One attempt to deliver an event, as an operator reads it. */
export interface DeliveryLogEntry {
  readonly atMs: number
  readonly fileId: string
  readonly type: string
  readonly status: string
  readonly attempt: number
  readonly method: string
  /** Without its query. */
  readonly url: string
  readonly outcome: 'delivered' | 'failed' | 'given-up'
  /** Answer's status or the reason of the failure. */
  readonly detail: string
}

/** What became of the webhooks: a row for each attempt. */
export class DeliveryLog {
  constructor(private readonly database: Database) {}

  add(event: OutgoingEvent, target: WebhookTarget | undefined, outcome: DeliveryLogEntry['outcome'], detail: string) {
    this.database.run(
      `INSERT INTO webhook_log (event_id, file_id, at_ms, attempt, method, url, type, status, outcome, detail)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        event.id,
        event.fileId,
        Date.now(),
        event.attempt,
        target?.method ?? '',
        target ? redactUrl(target.url) : '',
        event.body.type,
        event.body.message.status,
        outcome,
        detail,
      ],
    )
  }

  /** The latest entries, newest first. */
  latest(limit: number): DeliveryLogEntry[] {
    return this.database.all('SELECT * FROM webhook_log ORDER BY id DESC LIMIT ?', [limit]).map((row) => ({
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

  forgetBefore(ms: number): void {
    this.database.run('DELETE FROM webhook_log WHERE at_ms < ?', [ms])
  }
}
