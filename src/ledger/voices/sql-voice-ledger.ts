import type { Database, SqlValue, Statements, Transaction } from '../database/database.js'
import { DEFAULT_LEASE_MS } from '../jobs/job-store.js'
import type { StoreContext } from '../jobs/sql-job-store.js'
import { type Holder, thisHolder } from '../leases/holder.js'
import { FREE, freeDeadLeases, leaseLost, newLease } from '../leases/leases.js'
import { KEEP_VOICES_MS, VOICE_MOVES, type Voice, type VoiceStatus, type VoiceStep } from './voice.js'
import type { VoiceClaim, VoiceLease, VoiceLedger } from './voice-ledger.js'
import { attemptOf, voiceOf } from './voice-row.js'

/** {@link VoiceLedger} in SQL, for any number of processes. */
export class SqlVoiceLedger implements VoiceLedger {
  readonly #database: Database
  readonly #holder: Holder
  readonly #keepMs: number

  constructor({
    database,
    holder = thisHolder(),
    keepVoicesMs = KEEP_VOICES_MS,
  }: StoreContext & { readonly keepVoicesMs?: number | undefined }) {
    this.#database = database
    this.#holder = holder
    this.#keepMs = keepVoicesMs
  }

  async claim(key: string, leaseMs: number = DEFAULT_LEASE_MS): Promise<VoiceClaim> {
    const claim = await this.#claim(key, leaseMs)
    const isFreed = claim.outcome === 'held' && (await freeDeadLeases(this.#database, this.#holder))
    return isFreed ? this.#claim(key, leaseMs) : claim
  }

  async heartbeat(lease: VoiceLease, leaseMs: number = DEFAULT_LEASE_MS): Promise<VoiceLease> {
    return this.#database.transaction(async (tx) => {
      const expiresMs = tx.nowMs + leaseMs
      await change(tx, lease, 'lease_expires_ms = ?', [expiresMs])
      return { ...lease, expiresMs }
    })
  }

  async advance(lease: VoiceLease, step: VoiceStep): Promise<Voice> {
    return this.#database.transaction(async (tx) => {
      // First, so that a lost lease is reported before any other fault.
      await change(tx, lease, 'updated_ms = ?', [tx.nowMs])
      const before = await tx.get('SELECT status FROM voices WHERE key = ?', [lease.key])
      const status = before?.status as VoiceStatus
      if (!VOICE_MOVES[status].includes(step.status))
        throw new Error(`A voice cannot change from ${status} to ${step.status}.`)
      await write(tx, lease.key, step)
      return onlyVoice(tx, lease.key)
    })
  }

  async release(lease: VoiceLease): Promise<void> {
    await this.#database.run(`${FREE.voices} WHERE key = ? AND lease_token = ?`, [lease.key, lease.token])
  }

  async get(key: string): Promise<Voice | null> {
    return findVoice(this.#database, key)
  }

  async getByFileId(fileId: string): Promise<Voice | null> {
    const row = await this.#database.get('SELECT key FROM voice_attempts WHERE file_id = ?', [fileId])
    return row ? findVoice(this.#database, String(row.key)) : null
  }

  async forget(key: string): Promise<boolean> {
    await freeDeadLeases(this.#database, this.#holder)
    return this.#database.transaction(async (tx) => {
      const forget = `DELETE FROM voices WHERE key = ? AND ${IS_FREE}`
      return (await tx.run(forget, [key, tx.nowMs])).changes > 0
    })
  }

  async #claim(key: string, leaseMs: number): Promise<VoiceClaim> {
    return this.#database.transaction(async (tx) => {
      const { nowMs } = tx
      await tx.run(
        `INSERT INTO voices (key, status, created_ms, updated_ms) VALUES (?, 'new', ?, ?) ON CONFLICT DO NOTHING`,
        [key, nowMs, nowMs],
      )
      const { holderId, ...lease } = await newLease(tx, this.#holder, leaseMs)
      const { changes } = await tx.run(
        `UPDATE voices SET lease_token = ?, lease_holder = ?, lease_expires_ms = ?, updated_ms = ?
         WHERE key = ? AND ${IS_FREE}`,
        [lease.token, holderId, lease.expiresMs, nowMs, key, nowMs],
      )
      await tx.run(forgetUnused(tx), [nowMs - this.#keepMs, nowMs])
      const voice = await onlyVoice(tx, key)
      return changes === 0 ? { outcome: 'held', voice } : { outcome: 'claimed', voice, lease: { key, ...lease } }
    })
  }
}

const IS_FREE = '(lease_token IS NULL OR lease_expires_ms <= ?)'

/** A claim adds at most one voice, so deleting two is enough to shrink the table. */
const forgetUnused = ({ dialect }: Statements): string => `
  DELETE FROM voices WHERE ${dialect.isIn(
    'key',
    `SELECT key FROM voices INDEXED BY voices_at_rest
     WHERE status NOT IN ('starting', 'started', 'succeeded') AND updated_ms < ? AND ${IS_FREE}
     ORDER BY updated_ms LIMIT 2 ${dialect.lockUnused}`,
  )}`

/** Changes a voice of this lease, or throws `ERR_LEASE_LOST`. */
async function change(
  tx: Transaction,
  { key, token }: VoiceLease,
  assignments: string,
  values: readonly SqlValue[],
): Promise<void> {
  const sql = `UPDATE voices SET ${assignments} WHERE key = ? AND lease_token = ?`
  if ((await tx.run(sql, [...values, key, token])).changes === 0) throw leaseLost('this voice')
}

async function write(tx: Transaction, key: string, step: VoiceStep): Promise<void> {
  if (step.status === 'registering')
    await tx.run(
      `INSERT INTO voice_attempts (key, attempt, status, paid_sec, charged, started_ms)
       SELECT CAST(?1 AS TEXT), 1 + count(*), 'registering', 0, 0, CAST(?2 AS BIGINT) FROM voice_attempts WHERE key = ?1`,
      [key, tx.nowMs],
    )
  const { set, values } = attemptChange(step, tx.nowMs)
  await tx.run(
    `UPDATE voice_attempts SET ${set}, status = ?
     WHERE key = ? AND attempt = (SELECT max(attempt) FROM voice_attempts WHERE key = ?)`,
    [...values, step.status, key, key],
  )
  const path = step.status === 'cached' ? step.path : null
  await tx.run('UPDATE voices SET status = ?, cache_path = coalesce(?, cache_path) WHERE key = ?', [
    ...[step.status, path, key],
  ])
}

async function findVoice(statements: Statements, key: string): Promise<Voice | null> {
  const row = await statements.get('SELECT * FROM voices WHERE key = ?', [key])
  if (!row) return null
  const attempts = await statements.all('SELECT * FROM voice_attempts WHERE key = ? ORDER BY attempt', [key])
  return voiceOf(row, attempts.map(attemptOf))
}

/** The voice that this transaction has just written. */
async function onlyVoice(tx: Transaction, key: string): Promise<Voice> {
  const voice = await findVoice(tx, key)
  if (!voice) throw new Error('A voice vanished within a transaction.')
  return voice
}

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
