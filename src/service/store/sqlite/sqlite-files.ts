import type { SqliteFile, SqlValue } from '../../../ledger/index.js'
import { type FileRecord, fileNameOf } from '../file-record.js'
import {
  type Changed,
  type ClaimedFile,
  EXPIRED_PAGE,
  type ExpiredData,
  FILE_ID,
  type FileChange,
  type Files,
  type Notice,
  type Registration,
} from '../files.js'
import { toFileRecord } from './file-row.js'
import { updateFor } from './file-update.js'
import type { SqliteContext } from './sqlite-context.js'
import type { SqliteOutbox } from './sqlite-outbox.js'

/** {@link Files} in SQLite. Every change of state is one guarded update, which moves forward or does nothing. */
export class SqliteFiles implements Files {
  readonly #database: SqliteFile
  readonly #now: () => number
  readonly #outbox: SqliteOutbox

  constructor({ database, now }: SqliteContext, outbox: SqliteOutbox) {
    this.#database = database
    this.#now = now
    this.#outbox = outbox
  }

  async register(id: string, registration: Registration): Promise<FileRecord> {
    const now = this.#now()
    const { userId, clientFileId, sourceUrl = null, startSec = null, endSec = null } = registration
    this.#database.run(
      `INSERT OR IGNORE INTO file (id, user_id, client_file_id, file_name, source_url, start_sec, end_sec, state, created_ms, updated_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, 'registered', ?, ?)`,
      [id, userId, clientFileId, fileNameOf(clientFileId), sourceUrl, startSec, endSec, now, now],
    )
    return this.#known(id)
  }

  async ofUser(userId: string, ids: readonly string[]): Promise<(FileRecord | undefined)[]> {
    return ids.map((id) => {
      // SQLite would compare a text with a NUL inside only up to there.
      if (!FILE_ID.test(id)) return undefined
      const row = this.#database.get('SELECT * FROM file WHERE id = ? AND user_id = ?', [id, userId])
      return row && toFileRecord(row)
    })
  }

  async byId(id: string): Promise<FileRecord | undefined> {
    return this.#find(id)
  }

  async known(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const isKnown = (id: string) => this.#database.get('SELECT 1 AS known FROM file WHERE id = ?', [id]) !== undefined
    return new Set(ids.filter(isKnown))
  }

  async change(id: string, change: FileChange, notices: readonly Notice[] = []): Promise<Changed> {
    return this.#database.transaction(() => {
      const { set, values, when, bound } = updateFor(change, this.#now())
      const changed = this.#update(set, values, id, when, bound)
      if (changed && change.kind === 'fail') this.#refund(id)
      const file = this.#find(id)
      if (changed && file) for (const notice of notices) this.#outbox.add(file, notice)
      return { changed, file }
    })
  }

  async findForRetry(id: string): Promise<FileRecord | undefined> {
    this.#update('crashes = crashes + 1, working_claim = NULL', [], id, 'working_claim IS NOT NULL')
    return this.#find(id)
  }

  async claim({ id, claim }: ClaimedFile): Promise<boolean> {
    return this.#update('working_claim = ?, queued = 1', [claim], id, "state IN ('pending', 'in-progress')")
  }

  async release({ id, claim }: ClaimedFile): Promise<void> {
    this.#update('working_claim = NULL', [], id, 'working_claim = ?', [claim])
  }

  async countFault({ id, claim }: ClaimedFile): Promise<number | undefined> {
    const counted = 'faults = faults + (fault_claim IS NOT ?), fault_claim = ?'
    const mine = this.#update(counted, [claim, claim], id, 'working_claim = ?', [claim])
    return mine ? this.#known(id).faults : undefined
  }

  async charge({ id, claim }: ClaimedFile, soundMs: number): Promise<'charged' | 'short' | 'lost'> {
    return this.#database.transaction(() => {
      const file = this.#find(id)
      if (file?.claim !== claim || file.endedMs !== null) return 'lost'
      if (file.chargedMs > 0) return 'charged'
      const { changes } = this.#database.run(
        'UPDATE user SET credits_ms = credits_ms - ? WHERE id = ? AND (credits_ms IS NULL OR credits_ms >= ?)',
        [soundMs, file.userId, soundMs],
      )
      if (changes === 0) return 'short'
      this.#update('charged_ms = ?', [soundMs], id, 'TRUE')
      return 'charged'
    })
  }

  async unqueued(): Promise<string[]> {
    const sql = "SELECT id FROM file WHERE state IN ('pending', 'in-progress') AND queued = 0 ORDER BY created_ms"
    return this.#database.all(sql).map((row) => String(row.id))
  }

  async markQueued(id: string): Promise<void> {
    this.#update('queued = 1', [], id, 'TRUE')
  }

  async expired(what: ExpiredData, forMs: number): Promise<FileRecord[]> {
    const sql = `SELECT * FROM file WHERE ${OUTLIVED[what]} < ? LIMIT ${EXPIRED_PAGE}`
    return this.#database.all(sql, [Math.floor(this.#now() - forMs)]).map(toFileRecord)
  }

  async forgetUnused(id: string): Promise<boolean> {
    return this.#database.run("DELETE FROM file WHERE id = ? AND state = 'registered'", [id]).changes === 1
  }

  async forgetDeleted(forMs: number): Promise<void> {
    this.#database.run('DELETE FROM file WHERE output_deleted_ms < ?', [Math.floor(this.#now() - forMs)])
  }

  #refund(id: string): void {
    this.#database.run(
      `UPDATE user SET credits_ms = credits_ms + (SELECT charged_ms FROM file WHERE id = ?)
       WHERE id = (SELECT user_id FROM file WHERE id = ?)`,
      [id, id],
    )
    this.#database.run('UPDATE file SET charged_ms = 0 WHERE id = ?', [id])
  }

  #update(
    set: string,
    values: readonly SqlValue[],
    id: string,
    when: string,
    bound: readonly SqlValue[] = [],
  ): boolean {
    const sql = `UPDATE file SET ${set}, updated_ms = ? WHERE id = ? AND ${when}`
    return this.#database.run(sql, [...values, this.#now(), id, ...bound]).changes === 1
  }

  #find(id: string): FileRecord | undefined {
    const row = this.#database.get('SELECT * FROM file WHERE id = ?', [id])
    return row && toFileRecord(row)
  }

  #known(id: string): FileRecord {
    const file = this.#find(id)
    if (!file) throw new Error(`File ${id} does not exist.`)
    return file
  }
}

const OUTLIVED: Readonly<Record<ExpiredData, string>> = {
  input: 'input_deleted_ms IS NULL AND ended_ms',
  output: 'output_deleted_ms IS NULL AND ended_ms',
  unused: "state = 'registered' AND created_ms",
}
