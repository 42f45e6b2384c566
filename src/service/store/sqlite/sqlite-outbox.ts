import type { Row, SqliteFile } from '../../../ledger/index.js'
import type { DeliveryLogEntry } from '../../webhooks/delivery-log.js'
import { isDeadOwner } from '../../webhooks/lease-owner.js'
import type { Outbox, OutgoingEvent, Settlement } from '../../webhooks/outbox.js'
import type { FileRecord } from '../file-record.js'
import type { Notice } from '../files.js'
import type { SqliteContext } from './sqlite-context.js'

/** {@link Outbox} in SQLite. */
export class SqliteOutbox implements Outbox {
  readonly #database: SqliteFile
  readonly #now: () => number

  constructor({ database, now }: SqliteContext) {
    this.#database = database
    this.#now = now
  }

  /**
   * Adds an event within the transaction of its change. Does nothing for a file without webhooks or a user without an
   * address.
   */
  add(file: FileRecord, { type, status }: Notice): void {
    if (!file.webhook) return
    const user = this.#database.get('SELECT webhook_url FROM user WHERE id = ?', [file.userId])
    if (!user?.webhook_url) return
    const message = { fileId: file.id, status, progress: Math.floor(file.progress), errorCode: file.errorCode }
    const now = this.#now()
    this.#database.run(
      'INSERT INTO webhook_event (file_id, user_id, body, secret, due_ms, created_ms) VALUES (?, ?, ?, ?, ?, ?)',
      [file.id, file.userId, JSON.stringify({ userId: file.userId, type, message }), file.webhookSecret, now, now],
    )
  }

  async claim(owner: string, leaseMs: number, count: number): Promise<OutgoingEvent[]> {
    if (count <= 0 || !this.#hasDue()) return []
    return this.#database.transaction(() => {
      const now = this.#now()
      this.#freeDeadLeases()
      const rows = this.#database.all(
        `SELECT * FROM webhook_event AS event
         WHERE state = 'waiting' AND due_ms <= ? AND (lease_until_ms IS NULL OR lease_until_ms < ?)
           AND NOT EXISTS (SELECT 1 FROM webhook_event earlier
                           WHERE earlier.file_id = event.file_id AND earlier.id < event.id AND earlier.state = 'waiting')
         ORDER BY due_ms LIMIT ?`,
        [now, now, count],
      )
      for (const { id } of rows)
        this.#database.run(
          'UPDATE webhook_event SET lease_owner = ?, lease_until_ms = ?, attempts = attempts + 1 WHERE id = ?',
          [owner, now + leaseMs, id ?? null],
        )
      return rows.map((row) => toEvent(row, owner))
    })
  }

  async settle(event: OutgoingEvent, settlement: Settlement, entry: Omit<DeliveryLogEntry, 'atMs'>): Promise<void> {
    this.#database.transaction(() => {
      const { changes } =
        settlement.outcome === 'failed'
          ? this.#ofLease(event, 'UPDATE webhook_event SET due_ms = ?, lease_owner = NULL, lease_until_ms = NULL', [
              Math.ceil(this.#now() + settlement.againInMs),
            ])
          : this.#ofLease(event, 'DELETE FROM webhook_event')
      if (changes === 1) this.#log(event.id, entry)
    })
  }

  async release(event: OutgoingEvent): Promise<void> {
    const back = 'attempts = attempts - 1, lease_owner = NULL, lease_until_ms = NULL'
    this.#ofLease(event, `UPDATE webhook_event SET ${back}`)
  }

  #ofLease({ id, owner, attempt }: OutgoingEvent, sql: string, values: readonly number[] = []) {
    const where = 'WHERE id = ? AND lease_owner = ? AND attempts = ?'
    return this.#database.run(`${sql} ${where}`, [...values, id, owner, attempt])
  }

  #log(eventId: number, entry: Omit<DeliveryLogEntry, 'atMs'>): void {
    const { fileId, attempt, method, url, type, status, outcome, detail } = entry
    this.#database.run(
      `INSERT INTO webhook_log (event_id, file_id, at_ms, attempt, method, url, type, status, outcome, detail)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [eventId, fileId, this.#now(), attempt, method, url, type, status, outcome, detail],
    )
  }

  /** A process of this machine that was killed does not hold its events until their leases run out. */
  #freeDeadLeases(): void {
    const held = this.#database.all('SELECT DISTINCT lease_owner FROM webhook_event WHERE lease_owner IS NOT NULL')
    for (const { lease_owner: owner } of held)
      if (isDeadOwner(String(owner)))
        this.#database.run('UPDATE webhook_event SET lease_owner = NULL, lease_until_ms = NULL WHERE lease_owner = ?', [
          String(owner),
        ])
  }

  #hasDue(): boolean {
    const due = this.#database.get(
      "SELECT 1 AS due FROM webhook_event WHERE state = 'waiting' AND due_ms <= ? LIMIT 1",
      [this.#now()],
    )
    return due !== undefined
  }
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
