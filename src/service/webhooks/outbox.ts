import type { FileErrorCode, WebhookBody, WebhookStatus, WebhookType } from '../../contract/index.js'
import type { Database, Row } from '../../jobs/index.js'
import type { FileRecord } from '../store/file-record.js'

/** An event on its way, leased to one node. */
export interface OutgoingEvent {
  readonly id: number
  readonly fileId: string
  readonly userId: string
  /** Without the secret, which goes where the user's settings say. */
  readonly body: Omit<WebhookBody, 'secret'>
  /** startProcess's own secret, which wins over the portal's. */
  readonly secret: string | null
  /** Deliveries tried, this one included. */
  readonly attempt: number
}

/** Failures that validation finds in the file itself. */
const VALIDATION_CODES: readonly FileErrorCode[] = [-2, -3, -4, -5, -6, -7, -8, -9, -13, -14, -15, -16, -18]

/**
 * Events that are to be delivered, in the database beside the files: what happened and what is told of it are one
 * transaction. Within a file they go out in order.
 */
export class Outbox {
  constructor(private readonly database: Database) {}

  /** Queues one event of a file that was started with `webhook`; nothing for others, nor where no address is set. */
  add(file: FileRecord, type: WebhookType, status: WebhookStatus): void {
    if (!file.webhook) return
    const user = this.database.get('SELECT webhook_url FROM user WHERE id = ?', [file.userId])
    if (!user?.webhook_url) return
    const message = { fileId: file.id, status, progress: Math.floor(file.progress), errorCode: file.errorCode }
    const now = Date.now()
    this.database.run(
      'INSERT INTO webhook_event (file_id, user_id, body, secret, due_ms, created_ms) VALUES (?, ?, ?, ?, ?, ?)',
      [file.id, file.userId, JSON.stringify({ userId: file.userId, type, message }), file.webhookSecret, now, now],
    )
  }

  /** Queues what a failed file's owner is told: the change of status, then one error. */
  addFailure(file: FileRecord): void {
    const status = failureStatus(file.errorCode)
    this.add(file, 'status-updated', status)
    this.add(file, 'error-updated', status)
  }

  /** Leases up to `count` events that are due and first of their file. */
  claim(owner: string, leaseMs: number, count: number): OutgoingEvent[] {
    if (count <= 0 || !this.hasDue()) return []
    return this.database.transaction(() => {
      const now = Date.now()
      const rows = this.database.all(
        `SELECT * FROM webhook_event AS event
         WHERE state = 'waiting' AND due_ms <= ? AND (lease_until_ms IS NULL OR lease_until_ms < ?)
           AND NOT EXISTS (SELECT 1 FROM webhook_event earlier
                           WHERE earlier.file_id = event.file_id AND earlier.id < event.id AND earlier.state = 'waiting')
         ORDER BY due_ms LIMIT ?`,
        [now, now, count],
      )
      for (const { id } of rows)
        this.database.run(
          'UPDATE webhook_event SET lease_owner = ?, lease_until_ms = ?, attempts = attempts + 1 WHERE id = ?',
          [owner, now + leaseMs, id ?? null],
        )
      return rows.map(toEvent)
    })
  }

  /** The event reached its receiver. */
  delivered(id: number): void {
    this.database.run('DELETE FROM webhook_event WHERE id = ?', [id])
  }

  /** To be tried again later. */
  postpone(id: number, dueMs: number): void {
    this.database.run('UPDATE webhook_event SET due_ms = ?, lease_owner = NULL, lease_until_ms = NULL WHERE id = ?', [
      dueMs,
      id,
    ])
  }

  /** Gives an unfinished delivery back at a stop: it does not count as an attempt. */
  release(id: number): void {
    this.database.run(
      'UPDATE webhook_event SET attempts = attempts - 1, lease_owner = NULL, lease_until_ms = NULL WHERE id = ?',
      [id],
    )
  }

  private hasDue(): boolean {
    const due = this.database.get(
      "SELECT 1 AS due FROM webhook_event WHERE state = 'waiting' AND due_ms <= ? LIMIT 1",
      [Date.now()],
    )
    return due !== undefined
  }
}

/** The webhook's status of a failure: what is wrong with the file, what may be tried again, and the rest. */
export function failureStatus(errorCode: FileErrorCode): WebhookStatus {
  if (VALIDATION_CODES.includes(errorCode)) return "Didn't Pass Validation"
  return errorCode === -1 || errorCode === -12 ? 'Retry Needed' : 'Failed-Not-Deleted'
}

function toEvent(row: Row): OutgoingEvent {
  return {
    id: Number(row.id),
    fileId: String(row.file_id),
    userId: String(row.user_id),
    body: JSON.parse(String(row.body)),
    secret: typeof row.secret === 'string' ? row.secret : null,
    attempt: Number(row.attempts) + 1,
  }
}
