import type { Database, SqlValue, Statements, Transaction } from '../../../ledger/index.js'
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
import { storedText, toFileRecord } from './file-row.js'
import { updateFor } from './file-update.js'
import { queueEvent } from './sql-outbox.js'

const OUTLIVED: Readonly<Record<ExpiredData, string>> = {
  input: 'input_deleted_ms IS NULL AND ended_ms',
  output: 'output_deleted_ms IS NULL AND ended_ms',
  unused: "state = 'registered' AND created_ms",
}

/**
 * {@link Files} in SQL. Every change of state is one guarded update, which moves forward or does nothing. It locks the
 * file, and its user only after that.
 */
export class SqlFiles implements Files {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  register(id: string, registration: Registration): Promise<FileRecord> {
    const { userId, clientFileId, sourceUrl = null, startSec = null, endSec = null } = registration
    const names = [clientFileId, fileNameOf(clientFileId)].map(storedText)
    return this.#database.transaction(async (tx) => {
      await tx.run(
        `INSERT INTO file (id, user_id, client_file_id, file_name, source_url, start_sec, end_sec, state, created_ms, updated_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?, 'registered', ?, ?) ON CONFLICT (id) DO NOTHING`,
        [id, userId, ...names, sourceUrl, startSec, endSec, tx.nowMs, tx.nowMs],
      )
      const file = await find(tx, id)
      if (!file) throw new Error(`File ${id} does not exist.`)
      return file
    })
  }

  async ofUser(userId: string, ids: readonly string[]): Promise<(FileRecord | undefined)[]> {
    const list = JSON.stringify(ids.filter((id) => FILE_ID.test(id)))
    const sql = `SELECT * FROM file WHERE user_id = ? AND ${this.#database.dialect.isOneOf('id', '?')}`
    const found = (await this.#database.all(sql, [userId, list])).map(toFileRecord)
    const byId = new Map(found.map((file) => [file.id, file]))
    return ids.map((id) => byId.get(id))
  }

  byId(id: string): Promise<FileRecord | undefined> {
    return find(this.#database, id)
  }

  async known(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const sql = `SELECT id FROM file WHERE ${this.#database.dialect.isOneOf('id', '?')}`
    return new Set((await this.#database.all(sql, [JSON.stringify(ids)])).map((row) => String(row.id)))
  }

  change(id: string, change: FileChange, notices: readonly Notice[] = []): Promise<Changed> {
    return this.#database.transaction(async (tx) => {
      const { set, values, when, bound } = updateFor(change, tx.nowMs)
      const changed = await update(tx, set, values, id, when, bound)
      if (changed && change.kind === 'fail') await refund(tx, id)
      const file = await find(tx, id)
      if (changed && file) for (const notice of notices) await queueEvent(tx, file, notice)
      return { changed, file }
    })
  }

  findForRetry(id: string): Promise<FileRecord | undefined> {
    return this.#database.transaction(async (tx) => {
      await update(tx, 'crashes = crashes + 1, working_claim = NULL', [], id, 'working_claim IS NOT NULL')
      return find(tx, id)
    })
  }

  claim({ id, claim }: ClaimedFile): Promise<boolean> {
    return this.#update('working_claim = ?, queued = 1', [claim], id, "state IN ('pending', 'in-progress')")
  }

  async release({ id, claim }: ClaimedFile): Promise<void> {
    await this.#update('working_claim = NULL', [], id, 'working_claim = ?', [claim])
  }

  countFault({ id, claim }: ClaimedFile): Promise<number | undefined> {
    return this.#database.transaction(async (tx) => {
      const file = await find(tx, id, tx.dialect.forUpdate)
      if (file?.claim !== claim) return undefined
      const isNew = '(fault_claim IS NULL OR fault_claim <> ?)'
      const counted = await update(tx, 'faults = faults + 1, fault_claim = ?', [claim], id, isNew, [claim])
      return file.faults + (counted ? 1 : 0)
    })
  }

  charge({ id, claim }: ClaimedFile, soundMs: number): Promise<'charged' | 'short' | 'lost'> {
    return this.#database.transaction(async (tx) => {
      const file = await find(tx, id, tx.dialect.forUpdate)
      if (file?.claim !== claim || file.endedMs !== null) return 'lost'
      if (file.chargedMs > 0) return 'charged'
      const { changes } = await tx.run(
        'UPDATE user SET credits_ms = credits_ms - ? WHERE id = ? AND (credits_ms IS NULL OR credits_ms >= ?)',
        [soundMs, file.userId, soundMs],
      )
      if (changes === 0) return 'short'
      await update(tx, 'charged_ms = ?', [soundMs], id, 'TRUE')
      return 'charged'
    })
  }

  async unqueued(): Promise<string[]> {
    const sql = "SELECT id FROM file WHERE state IN ('pending', 'in-progress') AND queued = 0 ORDER BY created_ms"
    return (await this.#database.all(sql)).map((row) => String(row.id))
  }

  async markQueued(id: string): Promise<void> {
    await this.#update('queued = 1', [], id, 'TRUE')
  }

  expired(what: ExpiredData, forMs: number): Promise<FileRecord[]> {
    const sql = `SELECT * FROM file WHERE ${OUTLIVED[what]} < ? LIMIT ${EXPIRED_PAGE}`
    return this.#database.transaction(async (tx) =>
      (await tx.all(sql, [Math.floor(tx.nowMs - forMs)])).map(toFileRecord),
    )
  }

  async forgetUnused(id: string): Promise<boolean> {
    const sql = "DELETE FROM file WHERE id = ? AND state = 'registered'"
    return (await this.#database.run(sql, [id])).changes === 1
  }

  async forgetDeleted(forMs: number): Promise<void> {
    const sql = 'DELETE FROM file WHERE output_deleted_ms < ?'
    await this.#database.transaction((tx) => tx.run(sql, [Math.floor(tx.nowMs - forMs)]))
  }

  #update(...args: Parameters<typeof update> extends [Transaction, ...infer Rest] ? Rest : never): Promise<boolean> {
    return this.#database.transaction((tx) => update(tx, ...args))
  }
}

async function find(statements: Statements, id: string, lock = ''): Promise<FileRecord | undefined> {
  const row = await statements.get(`SELECT * FROM file WHERE id = ? ${lock}`, [id])
  return row && toFileRecord(row)
}

async function update(
  tx: Transaction,
  set: string,
  values: readonly SqlValue[],
  id: string,
  when: string,
  bound: readonly SqlValue[] = [],
): Promise<boolean> {
  const sql = `UPDATE file SET ${set}, updated_ms = ? WHERE id = ? AND ${when}`
  return (await tx.run(sql, [...values, tx.nowMs, id, ...bound])).changes === 1
}

async function refund(tx: Transaction, id: string): Promise<void> {
  await tx.run(
    `UPDATE user SET credits_ms = credits_ms + (SELECT charged_ms FROM file WHERE id = ?)
     WHERE id = (SELECT user_id FROM file WHERE id = ?)`,
    [id, id],
  )
  await tx.run('UPDATE file SET charged_ms = 0 WHERE id = ?', [id])
}
