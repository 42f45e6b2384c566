import { randomUUID } from 'node:crypto'
import type { FileErrorCode, OutputType } from '../../contract/index.js'
import type { Database } from '../../jobs/index.js'
import { type FileRecord, fileNameOf, toFileRecord } from './file-record.js'

/** What a client says when it registers a file. */
export interface Registration {
  readonly userId: string
  readonly clientFileId: string
  readonly sourceUrl?: string | undefined
  readonly startSec?: number | undefined
  readonly endSec?: number | undefined
}

/** What a client says when it starts a file. */
export interface StartOptions {
  readonly webhook: boolean
  readonly webhookSecret: string | null
  readonly outputType: OutputType | null
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Failures after which the same file may be started once more: webhooks call them "Retry Needed". */
export const RETRYABLE_CODES: readonly FileErrorCode[] = [-1, -12]

/** The registered files and their life. Every change of state is one guarded update: it moves forward or not at all. */
export class Files {
  constructor(private readonly database: Database) {}

  register(registration: Registration): FileRecord {
    const [id, now] = [randomUUID(), Date.now()]
    const { userId, clientFileId, sourceUrl, startSec, endSec } = registration
    this.database.run(
      `INSERT INTO file (id, user_id, client_file_id, file_name, source_url, start_sec, end_sec, state, created_ms, updated_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, 'registered', ?, ?)`,
      [
        id,
        userId,
        clientFileId,
        fileNameOf(clientFileId),
        sourceUrl ?? null,
        startSec ?? null,
        endSec ?? null,
        now,
        now,
      ],
    )
    return this.known(id)
  }

  /** The file, if it is this user's: one user's ids do not exist for another. */
  ofUser(userId: string, id: string): FileRecord | undefined {
    // Checked before SQLite sees it: a text with a NUL inside would be compared only up to there.
    if (!ID.test(id)) return undefined
    const row = this.database.get('SELECT * FROM file WHERE id = ? AND user_id = ?', [id, userId])
    return row && toFileRecord(row)
  }

  byId(id: string): FileRecord | undefined {
    const row = this.database.get('SELECT * FROM file WHERE id = ?', [id])
    return row && toFileRecord(row)
  }

  /**
   * Accepts a start: of a file that was never started, or that failed through no fault of its own.
   *
   * @returns false for a repeated start, which changes nothing
   */
  start(id: string, options: StartOptions): boolean {
    const { changes } = this.database.run(
      `UPDATE file SET state = 'pending', error_code = 0, ended_ms = NULL, faults = 0, crashes = 0, webhook = ?, webhook_secret = ?, output_type = ?, updated_ms = ?
       WHERE id = ? AND (state = 'registered' OR (state = 'failed' AND input_deleted_ms IS NULL AND error_code IN (${RETRYABLE_CODES.join(', ')})))`,
      [options.webhook ? 1 : 0, options.webhookSecret, options.outputType, Date.now(), id],
    )
    return changes === 1
  }

  /** Counts a crash where whoever took the file up last never put it down. @returns the file as it is now */
  findAgain(id: string): FileRecord | undefined {
    this.update('crashes = crashes + 1, working_claim = NULL', [], id, 'working_claim IS NOT NULL')
    return this.byId(id)
  }

  /** Marks a file as in work. @param claim number of the claim of its job: a later one is another worker's */
  takeUp(id: string, claim: number): void {
    this.update('working_claim = ?', [claim], id, 'TRUE')
  }

  /** The work on a file came to an orderly end, whichever: it was no crash. */
  putDown(id: string, claim: number): void {
    this.update('working_claim = NULL', [], id, 'working_claim = ?', [claim])
  }

  /** Counts a fault of the service. @returns how many there were since the start */
  countFault(id: string): number {
    this.update('faults = faults + 1', [], id, 'TRUE')
    return this.known(id).faults
  }

  /** @returns false where the file is in progress already (another attempt) or has ended */
  beginProgress(id: string): boolean {
    return this.update("state = 'in-progress'", [], id, "state = 'pending'")
  }

  /** @returns false where the file was at least there already: progress never falls, however often it is tried */
  setProgress(id: string, percent: number): boolean {
    return this.update('progress = ?', [percent], id, "state = 'in-progress' AND progress < ?", [percent])
  }

  /** @returns false where the file had ended already */
  succeed(id: string, outputExtension: string): boolean {
    const set = "state = 'succeeded', progress = 100, error_code = 0, output_extension = ?, ended_ms = ?"
    return this.update(set, [outputExtension, Date.now()], id, "state IN ('pending', 'in-progress')")
  }

  /** Ends the file and gives its credits back. @returns false where it had ended already */
  fail(id: string, errorCode: FileErrorCode): boolean {
    return this.database.transaction(() => {
      const set = "state = 'failed', error_code = ?, ended_ms = ?"
      const changed = this.update(set, [errorCode, Date.now()], id, "state IN ('pending', 'in-progress')")
      if (changed) this.refund(id)
      return changed
    })
  }

  /**
   * Takes a file's seconds from its user's credits, once however often the file is tried.
   *
   * @returns false where the credits do not suffice; nothing is taken then
   */
  charge(id: string, durationSec: number): boolean {
    return this.database.transaction(() => {
      const file = this.known(id)
      if (file.chargedSec > 0) return true
      const { changes } = this.database.run(
        'UPDATE user SET credits_sec = credits_sec - ? WHERE id = ? AND (credits_sec IS NULL OR credits_sec >= ?)',
        [durationSec, file.userId, durationSec],
      )
      if (changes === 0) return false
      return this.update('charged_sec = ?', [durationSec], id, 'TRUE')
    })
  }

  /** Ids of the files that were accepted and have not ended, oldest first. */
  unfinished(): string[] {
    return this.database
      .all("SELECT id FROM file WHERE state IN ('pending', 'in-progress') ORDER BY created_ms")
      .map((row) => String(row.id))
  }

  private refund(id: string): void {
    this.database.run(
      `UPDATE user SET credits_sec = credits_sec + (SELECT charged_sec FROM file WHERE id = ?)
       WHERE id = (SELECT user_id FROM file WHERE id = ?)`,
      [id, id],
    )
    this.database.run('UPDATE file SET charged_sec = 0 WHERE id = ?', [id])
  }

  private update(set: string, values: (string | number)[], id: string, when: string, bound: number[] = []): boolean {
    const sql = `UPDATE file SET ${set}, updated_ms = ? WHERE id = ? AND ${when}`
    return this.database.run(sql, [...values, Date.now(), id, ...bound]).changes === 1
  }

  private known(id: string): FileRecord {
    const file = this.byId(id)
    if (!file) throw new Error(`File ${id} is not there.`)
    return file
  }
}
