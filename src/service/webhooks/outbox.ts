import type { FileErrorCode, WebhookBody, WebhookStatus, WebhookType } from '../../contract/index.js'
import { UsageError } from '../../core/errors.js'
import type { Database, Row, SqlValue, Transaction } from '../../ledger/index.js'
import type { FileRecord } from '../store/file-record.js'
import type { DeliveryLogEntry } from './delivery-log.js'
import { isDeadOwner } from './lease-owner.js'

/** An event sent with a change, if the file was started with webhooks and its user has set an address. */
export interface Notice {
  readonly type: WebhookType
  readonly status: WebhookStatus
}

/** An event in delivery, leased to one node. */
export interface OutgoingEvent {
  readonly id: number
  readonly fileId: string
  readonly userId: string
  /** Without the secret, whose position is set by the user. */
  readonly body: Omit<WebhookBody, 'secret'>
  /** startProcess's own secret, which overrides the portal's. */
  readonly secret: string | null
  /** Number of the delivery attempt. With {@link owner} it identifies this lease. */
  readonly attempt: number
  /** The node that claimed it. */
  readonly owner: string
}

/** Result of an attempt: final, or retried after a delay. */
export type Settlement =
  | { readonly outcome: 'delivered' | 'given-up' }
  | { readonly outcome: 'failed'; readonly againInMs: number }

/** Failures that the validation of the file finds. */
const VALIDATION_CODES: readonly FileErrorCode[] = [-2, -3, -4, -5, -6, -7, -8, -9, -13, -14, -15, -16, -18]

/** The webhook status of a failure: invalid file, retry possible, or other. */
export function failureStatus(errorCode: FileErrorCode): WebhookStatus {
  if (VALIDATION_CODES.includes(errorCode)) return "Didn't Pass Validation"
  return errorCode === -1 || errorCode === -12 ? 'Retry Needed' : 'Failed-Not-Deleted'
}

const RELEASED = 'lease_owner = NULL, lease_until_ms = NULL'
const OF_LEASE = 'WHERE id = ? AND lease_owner = ? AND attempts = ?'

/** Queues an event within the transaction that causes it. Without a webhook or an address, it queues nothing. */
export async function queueEvent(tx: Transaction, file: FileRecord, { type, status }: Notice): Promise<void> {
  if (!file.webhook) return
  const user = await tx.get('SELECT webhook_url FROM user WHERE id = ?', [file.userId])
  if (!user?.webhook_url) return
  const message = { fileId: file.id, status, progress: Math.floor(file.progress), errorCode: file.errorCode }
  const body = JSON.stringify({ userId: file.userId, type, message })
  await tx.run(
    'INSERT INTO webhook_event (file_id, user_id, body, secret, due_ms, created_ms) VALUES (?, ?, ?, ?, ?, ?)',
    [file.id, file.userId, body, file.webhookSecret, tx.nowMs, tx.nowMs],
  )
}

/**
 * Events to deliver, in the same store as the files, so that a change and its events are one transaction. The events of
 * a file go out in order and one at a time.
 */
export class Outbox {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Leases up to `count` events that are due and the first of their file. */
  async claim(owner: string, leaseMs: number, count: number): Promise<OutgoingEvent[]> {
    if (count <= 0) return []
    // Usually nothing waits, and a poll then begins no transaction.
    if (!(await this.#database.get("SELECT 1 AS found FROM webhook_event WHERE state = 'waiting' LIMIT 1"))) return []
    return this.#database.transaction(async (tx) => {
      await freeDeadLeases(tx)
      const rows = await tx.all(
        `SELECT * FROM webhook_event AS event
         WHERE state = 'waiting' AND due_ms <= ? AND (lease_until_ms IS NULL OR lease_until_ms < ?)
           AND NOT EXISTS (SELECT 1 FROM webhook_event AS earlier
                           WHERE earlier.file_id = event.file_id AND earlier.id < event.id AND earlier.state = 'waiting')
         ORDER BY due_ms LIMIT ? ${tx.dialect.lockFree}`,
        [tx.nowMs, tx.nowMs, count],
      )
      for (const { id = null } of rows)
        await tx.run(
          'UPDATE webhook_event SET lease_owner = ?, lease_until_ms = ?, attempts = attempts + 1 WHERE id = ?',
          [owner, tx.nowMs + leaseMs, id],
        )
      return rows.map((row) => toEvent(row, owner))
    })
  }

  /** Ends an attempt and logs it. Does nothing if another node has the lease now. */
  async settle(
    event: OutgoingEvent,
    settlement: Settlement,
    entry: Omit<DeliveryLogEntry, 'id' | 'atMs'>,
  ): Promise<void> {
    const { fileId, attempt, method, url, type, status, outcome, detail } = entry
    await this.#database.transaction(async (tx) => {
      const { changes } =
        settlement.outcome === 'failed'
          ? await tx.run(`UPDATE webhook_event SET due_ms = ?, ${RELEASED} ${OF_LEASE}`, [
              Math.ceil(tx.nowMs + settlement.againInMs),
              ...leaseOf(event),
            ])
          : await tx.run(`DELETE FROM webhook_event ${OF_LEASE}`, leaseOf(event))
      if (changes === 0) return
      await tx.run(
        `INSERT INTO webhook_log
         (event_id, file_id, at_ms, attempt, method, url, type, status, outcome, detail, user_id, body)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [
          ...[event.id, fileId, tx.nowMs, attempt, method, url, type, status, outcome, detail],
          ...[event.userId, JSON.stringify(event.body)],
        ],
      )
    })
  }

  /** Sends a log entry again, or its waiting event at once. @throws {UsageError} `ERR_DELIVERY_UNKNOWN` */
  async redeliver(entryId: number): Promise<void> {
    await this.#database.transaction(async (tx) => {
      const entry = await tx.get('SELECT file_id, user_id, body FROM webhook_log WHERE id = ?', [entryId])
      const { file_id: fileId = null, user_id: userId = null, body = null } = entry ?? {}
      if (body === null)
        throw new UsageError('ERR_DELIVERY_UNKNOWN', `The log has no webhook with the id ${entryId}.`, {
          remedies: ['List the deliveries: voxmux portal webhook log'],
        })
      const due = "UPDATE webhook_event SET due_ms = ? WHERE file_id = ? AND body = ? AND state = 'waiting'"
      if ((await tx.run(due, [tx.nowMs, fileId, body])).changes > 0) return
      await tx.run(
        `INSERT INTO webhook_event (file_id, user_id, body, secret, due_ms, created_ms)
         VALUES (?, ?, ?, (SELECT webhook_secret FROM file WHERE id = ?), ?, ?)`,
        [fileId, userId, body, fileId, tx.nowMs, tx.nowMs],
      )
    })
  }

  /** Returns an unfinished delivery when the node stops. It does not count as an attempt. */
  async release(event: OutgoingEvent): Promise<void> {
    const sql = `UPDATE webhook_event SET attempts = attempts - 1, ${RELEASED} ${OF_LEASE}`
    await this.#database.run(sql, leaseOf(event))
  }
}

function leaseOf({ id, owner, attempt }: OutgoingEvent): SqlValue[] {
  return [id, owner, attempt]
}

/** A process of this machine that was killed does not hold its events until their leases run out. */
async function freeDeadLeases(tx: Transaction): Promise<void> {
  const held = await tx.all('SELECT DISTINCT lease_owner FROM webhook_event WHERE lease_owner IS NOT NULL')
  for (const { lease_owner: owner = null } of held)
    if (isDeadOwner(String(owner))) await tx.run(`UPDATE webhook_event SET ${RELEASED} WHERE lease_owner = ?`, [owner])
}

function toEvent(row: Row, owner: string): OutgoingEvent {
  return {
    id: Number(row.id),
    fileId: String(row.file_id),
    userId: String(row.user_id),
    body: JSON.parse(String(row.body)),
    secret: typeof row.secret === 'string' ? row.secret : null,
    attempt: Number(row.attempts) + 1,
    owner,
  }
}
