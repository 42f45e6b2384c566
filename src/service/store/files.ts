import type { Database, Statements, Transaction } from '../../ledger/index.js'
import { type Notice, queueEvent } from '../webhooks/outbox.js'
import { type FileRecord, fileNameOf } from './file-record.js'
import { storedText, toFileRecord } from './sql/file-row.js'
import { type FileChange, type FileUpdate, updateFor } from './sql/file-update.js'

/** A client's request to register a file. */
export interface Registration {
  readonly userId: string
  readonly clientFileId: string
  readonly sourceUrl?: string | undefined
  readonly startSec?: number | undefined
  readonly endSec?: number | undefined
}

/** A file held by one worker. A later worker gets another claim, after which this one may no longer write. */
export interface ClaimedFile {
  readonly id: string
  /** A random whole number. */
  readonly claim: number
}

/** Result of a change. */
export interface Changed {
  readonly changed: boolean
  /** The file as it is now; undefined if it does not exist. */
  readonly file: FileRecord | undefined
}

/** The kinds of expired data. */
export type ExpiredData = 'input' | 'output' | 'unused' | 'unended'

/** Format of a file id: a UUID. Other ids are not looked up. */
const FILE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A client's id may have a megabyte. The service echoes it when it registers the file, and needs only a name later. */
const MOST_STORED_CHARS = 1000

/** Most files that one call of {@link Files.expired} returns. */
export const EXPIRED_PAGE = 500

const OUTLIVED: Readonly<Record<ExpiredData, string>> = {
  input: 'input_deleted_ms IS NULL AND ended_ms',
  output: 'output_deleted_ms IS NULL AND ended_ms',
  unused: "state = 'registered' AND created_ms",
  unended: "state IN ('pending', 'in-progress') AND updated_ms",
}

/**
 * The registered files and their states. Every change of state is one guarded update, which moves forward or does
 * nothing. It locks the file, and its user only after that.
 */
export class Files {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** @param id a new id; registering the same id again changes nothing */
  register(id: string, registration: Registration): Promise<FileRecord> {
    const { userId, clientFileId, sourceUrl = null, startSec = null, endSec = null } = registration
    const names = [clientFileId, fileNameOf(clientFileId)].map((text) => storedText(text.slice(0, MOST_STORED_CHARS)))
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

  /** Number of the user's files that were registered and not started. */
  async unstarted(userId: string): Promise<number> {
    const sql = "SELECT COUNT(*) AS files FROM file WHERE user_id = ? AND state = 'registered'"
    return Number((await this.#database.get(sql, [userId]))?.files ?? 0)
  }

  /** The user's files with these ids, in the given order. Ids of other users count as unknown. */
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

  /** Which of these ids exist. */
  async known(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const sql = `SELECT id FROM file WHERE ${this.#database.dialect.isOneOf('id', '?')}`
    return new Set((await this.#database.all(sql, [JSON.stringify(ids)])).map((row) => String(row.id)))
  }

  /** Changes a file and queues its events in one transaction. */
  change(id: string, change: FileChange, notices: readonly Notice[] = []): Promise<Changed> {
    return this.#database.transaction(async (tx) => {
      const changed = await update(tx, id, updateFor(change, tx.nowMs))
      if (changed && change.kind === 'fail') await refund(tx, id)
      const file = await find(tx, id)
      if (changed && file) for (const notice of notices) await queueEvent(tx, file, notice)
      return { changed, file }
    })
  }

  /** Counts a crash if the last worker never released the file. @returns the file as it is now */
  findForRetry(id: string): Promise<FileRecord | undefined> {
    return this.#database.transaction(async (tx) => {
      await update(tx, id, { set: 'crashes = crashes + 1, working_claim = NULL', when: 'working_claim IS NOT NULL' })
      return find(tx, id)
    })
  }

  /** Marks a file as being processed. @returns false if it has ended */
  claim({ id, claim }: ClaimedFile): Promise<boolean> {
    const when = "state IN ('pending', 'in-progress')"
    return this.#update(id, { set: 'working_claim = ?, queued = 1', values: [claim], when })
  }

  /** Releases a file after an orderly end of its processing, so that no crash is counted. */
  async release({ id, claim }: ClaimedFile): Promise<void> {
    await this.#update(id, { set: 'working_claim = NULL', when: 'working_claim = ?', bound: [claim] })
  }

  /** Counts at most one fault per claim. @returns the faults; undefined if another worker holds the file */
  countFault({ id, claim }: ClaimedFile): Promise<number | undefined> {
    return this.#database.transaction(async (tx) => {
      const file = await find(tx, id, tx.dialect.forUpdate)
      if (file?.claim !== claim) return undefined
      const [set, when] = ['faults = faults + 1, fault_claim = ?', '(fault_claim IS NULL OR fault_claim <> ?)']
      const counted = await update(tx, id, { set, values: [claim], when, bound: [claim] })
      return file.faults + (counted ? 1 : 0)
    })
  }

  /**
   * Charges a file's sound, in whole milliseconds, to its user. Charges once, however often the file is retried.
   *
   * @returns 'short' if the credits do not suffice, 'lost' if another worker holds the file; nothing is charged then
   */
  charge({ id, claim }: ClaimedFile, soundMs: number): Promise<'charged' | 'short' | 'lost'> {
    return this.#database.transaction(async (tx) => {
      const file = await find(tx, id, tx.dialect.forUpdate)
      if (file?.claim !== claim || file.endedMs !== null) return 'lost'
      if (file.chargedMs > 0) return 'charged'
      const user = await tx.get(
        `UPDATE user SET credits_ms = credits_ms - ?
         WHERE id = ? AND (credits_ms IS NULL OR credits_ms >= ?) RETURNING credits_ms`,
        [soundMs, file.userId, soundMs],
      )
      if (!user) return 'short'
      const refundableMs = user.credits_ms === null ? 0 : soundMs
      await update(tx, id, { set: 'charged_ms = ?, refundable_ms = ?', values: [soundMs, refundableMs], when: 'TRUE' })
      return 'charged'
    })
  }

  /** Ids of the files that were accepted but not seen in the job queue, oldest first. */
  async unqueued(): Promise<string[]> {
    const sql = "SELECT id FROM file WHERE state IN ('pending', 'in-progress') AND queued = 0 ORDER BY created_ms"
    return (await this.#database.all(sql)).map((row) => String(row.id))
  }

  /** Records that the file was seen in the job queue. */
  async markQueued(id: string): Promise<void> {
    await this.#update(id, { set: 'queued = 1', when: 'TRUE' })
  }

  /** Files whose data expired `forMs` after their end; after registration or their last change if they have none. */
  expired(what: ExpiredData, forMs: number): Promise<FileRecord[]> {
    const sql = `SELECT * FROM file WHERE ${OUTLIVED[what]} < ? LIMIT ${EXPIRED_PAGE}`
    return this.#database.transaction(async (tx) =>
      (await tx.all(sql, [Math.floor(tx.nowMs - forMs)])).map(toFileRecord),
    )
  }

  /** Deletes the record of a file that was never started. @returns false if it was started */
  async forgetUnused(id: string): Promise<boolean> {
    const sql = "DELETE FROM file WHERE id = ? AND state = 'registered'"
    return (await this.#database.run(sql, [id])).changes === 1
  }

  /** Deletes the record of a file that was started and has not ended. */
  async forgetUnended(id: string): Promise<void> {
    await this.#database.run("DELETE FROM file WHERE id = ? AND state IN ('pending', 'in-progress')", [id])
  }

  /** Deletes the records of files whose output was deleted longer ago than this. */
  async forgetDeleted(forMs: number): Promise<void> {
    const sql = 'DELETE FROM file WHERE output_deleted_ms < ?'
    await this.#database.transaction((tx) => tx.run(sql, [Math.floor(tx.nowMs - forMs)]))
  }

  #update(id: string, change: FileUpdate): Promise<boolean> {
    return this.#database.transaction((tx) => update(tx, id, change))
  }
}

async function find(statements: Statements, id: string, lock = ''): Promise<FileRecord | undefined> {
  const row = await statements.get(`SELECT * FROM file WHERE id = ? ${lock}`, [id])
  return row && toFileRecord(row)
}

async function update(tx: Transaction, id: string, change: FileUpdate): Promise<boolean> {
  const { set, values = [], when, bound = [] } = change
  const sql = `UPDATE file SET ${set}, updated_ms = ? WHERE id = ? AND ${when}`
  return (await tx.run(sql, [...values, tx.nowMs, id, ...bound])).changes === 1
}

async function refund(tx: Transaction, id: string): Promise<void> {
  await tx.run(
    `UPDATE user SET credits_ms = credits_ms + (SELECT refundable_ms FROM file WHERE id = ?)
     WHERE id = (SELECT user_id FROM file WHERE id = ?)`,
    [id, id],
  )
  await tx.run('UPDATE file SET charged_ms = 0, refundable_ms = 0 WHERE id = ?', [id])
}
