import { UsageError } from '../../../core/errors.js'
import type { Database, Row, SqlValue, Transaction } from '../../../ledger/index.js'
import type { DeliveryLogEntry } from '../../webhooks/delivery-log.js'
import { isDeadOwner } from '../../webhooks/lease-owner.js'
import type { Outbox, OutgoingEvent, Settlement } from '../../webhooks/outbox.js'
import type { FileRecord } from '../file-record.js'
import type { Notice } from '../files.js'

const RELEASED = 'lease_owner = NULL, lease_until_ms = NULL'
const OF_LEASE = 'WHERE id = ? AND lease_owner = ? AND attempts = ?'

/**
 * Queues an event in the transaction of its change. Does nothing for a file without webhooks or a user without an
 * address.
 */
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

/** {@link Outbox} in SQL. */
export class SqlOutbox implements Outbox {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

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
