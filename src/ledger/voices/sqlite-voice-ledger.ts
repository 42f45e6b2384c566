import type { SqliteFile, SqlValue } from '../database/sqlite-file.js'
import { DEFAULT_LEASE_MS } from '../jobs/job-store.js'
import type { StoreContext } from '../jobs/sqlite-job-store.js'
import { type Holder, thisHolder } from '../leases/holder.js'
import { freeLostLeases, leaseLost, newLease } from '../leases/leases.js'
import { KEEP_VOICES_MS, VOICE_MOVES, type Voice, type VoiceStatus, type VoiceStep } from './voice.js'
import type { VoiceClaim, VoiceLease, VoiceLedger } from './voice-ledger.js'
import { attemptOf, voiceOf } from './voice-row.js'

/** {@link VoiceLedger} in SQLite, for any number of processes of one machine. */
export class SqliteVoiceLedger implements VoiceLedger {
  readonly #database: SqliteFile
  readonly #now: () => number
  readonly #holder: Holder
  readonly #keepMs: number

  constructor({
    database,
    now = Date.now,
    holder = thisHolder(),
    keepVoicesMs = KEEP_VOICES_MS,
  }: StoreContext & { readonly keepVoicesMs?: number | undefined }) {
    this.#database = database
    this.#now = now
    this.#holder = holder
    this.#keepMs = keepVoicesMs
  }

  async claim(key: string, leaseMs: number = DEFAULT_LEASE_MS): Promise<VoiceClaim> {
    return this.#database.transaction(() => {
      const now = this.#now()
      freeLostLeases(this.#database, now, this.#holder)
      this.#database.run(`INSERT OR IGNORE INTO voices (key, status, created_ms, updated_ms) VALUES (?, 'new', ?, ?)`, [
        key,
        now,
        now,
      ])
      const lease = newLease(this.#database, this.#holder, now + leaseMs)
      const { changes } = this.#database.run(
        `UPDATE voices SET lease_token = ?, lease_holder = ?, lease_expires_ms = ?, updated_ms = ?
         WHERE key = ? AND lease_token IS NULL`,
        [lease.token, lease.holderId, lease.expiresMs, now, key],
      )
      this.#database.run(FORGET_UNUSED, [now - this.#keepMs])
      const voice = this.#one(key)
      if (changes === 0) return { outcome: 'held', voice }
      return { outcome: 'claimed', voice, lease: { key, token: lease.token, expiresMs: lease.expiresMs } }
    })
  }

  async heartbeat(lease: VoiceLease, leaseMs: number = DEFAULT_LEASE_MS): Promise<VoiceLease> {
    const expiresMs = this.#now() + leaseMs
    this.#change(lease, 'lease_expires_ms = ?', [expiresMs])
    return { ...lease, expiresMs }
  }

  async advance(lease: VoiceLease, step: VoiceStep): Promise<Voice> {
    return this.#database.transaction(() => {
      // First, so that a lost lease is reported before any other fault.
      this.#change(lease, 'updated_ms = ?', [this.#now()])
      const before = this.#database.get('SELECT status FROM voices WHERE key = ?', [lease.key])
      const status = before?.status as VoiceStatus
      if (!VOICE_MOVES[status].includes(step.status))
        throw new Error(`A voice cannot change from ${status} to ${step.status}.`)
      this.#write(lease.key, step)
      return this.#one(lease.key)
    })
  }

  async release(lease: VoiceLease): Promise<void> {
    this.#database.run(
      `UPDATE voices SET lease_token = NULL, lease_holder = NULL, lease_expires_ms = NULL
       WHERE key = ? AND lease_token = ?`,
      [lease.key, lease.token],
    )
  }

  async get(key: string): Promise<Voice | null> {
    return this.#find(key)
  }

  async getByFileId(fileId: string): Promise<Voice | null> {
    const row = this.#database.get('SELECT key FROM voice_attempts WHERE file_id = ?', [fileId])
    return row ? this.#find(String(row.key)) : null
  }

  async forget(key: string): Promise<boolean> {
    return this.#database.transaction(() => {
      freeLostLeases(this.#database, this.#now(), this.#holder)
      return this.#database.run('DELETE FROM voices WHERE key = ? AND lease_token IS NULL', [key]).changes > 0
    })
  }

  #write(key: string, step: VoiceStep): void {
    const now = this.#now()
    if (step.status === 'registering')
      this.#database.run(
        `INSERT INTO voice_attempts (key, attempt, status, paid_sec, charged, started_ms)
         SELECT ?, 1 + count(*), 'registering', 0, 0, ? FROM voice_attempts WHERE key = ?`,
        [key, now, key],
      )
    const { set, values } = attemptChange(step, now)
    this.#database.run(
      `UPDATE voice_attempts SET ${set}, status = ?
       WHERE key = ? AND attempt = (SELECT max(attempt) FROM voice_attempts WHERE key = ?)`,
      [...values, step.status, key, key],
    )
    this.#database.run('UPDATE voices SET status = ?, cache_path = coalesce(?, cache_path) WHERE key = ?', [
      step.status,
      step.status === 'cached' ? step.path : null,
      key,
    ])
  }

  /** Changes a voice of this lease, or throws `ERR_LEASE_LOST`. */
  #change(lease: VoiceLease, assignments: string, values: readonly SqlValue[]): void {
    const { changes } = this.#database.run(`UPDATE voices SET ${assignments} WHERE key = ? AND lease_token = ?`, [
      ...values,
      lease.key,
      lease.token,
    ])
    if (changes === 0) throw leaseLost('this voice')
  }

  #find(key: string): Voice | null {
    const row = this.#database.get('SELECT * FROM voices WHERE key = ?', [key])
    if (!row) return null
    const attempts = this.#database.all('SELECT * FROM voice_attempts WHERE key = ? ORDER BY attempt', [key])
    return voiceOf(row, attempts.map(attemptOf))
  }

  #one(key: string): Voice {
    const voice = this.#find(key)
    if (!voice) throw new Error('A voice vanished within a transaction.')
    return voice
  }
}

/** A claim adds at most one voice, so deleting two is enough to shrink the table. */
const FORGET_UNUSED = `
  DELETE FROM voices WHERE key IN (
    SELECT key FROM voices INDEXED BY voices_at_rest
    WHERE status NOT IN ('starting', 'started', 'succeeded') AND updated_ms < ? AND lease_token IS NULL
    ORDER BY updated_ms LIMIT 2
  )`

/** The assignments of a step in the running attempt. */
function attemptChange(step: VoiceStep, nowMs: number): { set: string; values: SqlValue[] } {
  switch (step.status) {
    case 'registering':
      return { set: 'started_ms = ?', values: [nowMs] }
    case 'registered':
      return { set: 'file_id = ?', values: [step.fileId] }
    case 'starting':
      return { set: 'paid_sec = ?', values: [step.paidSec] }
    case 'uploaded':
    case 'cached':
      return { set: 'ended_ms = ended_ms', values: [] }
    case 'started':
      return { set: 'charged = 1', values: [] }
    case 'succeeded':
      return { set: 'charged = 1, error_code = NULL, ended_ms = coalesce(ended_ms, ?)', values: [nowMs] }
    case 'failed':
      return { set: 'error_code = ?, ended_ms = coalesce(ended_ms, ?)', values: [step.errorCode, nowMs] }
    default:
      return step satisfies never
  }
}
