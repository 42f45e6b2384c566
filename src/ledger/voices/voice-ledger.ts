import { randomUUID } from 'node:crypto'
import type { Database, Row, SqlValue, Statements, Transaction } from '../database/database.js'
import { DEFAULT_LEASE_MS } from '../jobs/job-store.js'
import type { StoreContext } from '../jobs/sql-job-store.js'
import type { Holder } from '../leases/holder.js'
import { FREE, freeDeadLeases, leaseLost, newLease, requestLease } from '../leases/leases.js'
import {
  KEEP_VOICES_MS,
  VOICE_MOVES,
  VOICE_STATUSES,
  type Voice,
  type VoiceAttempt,
  type VoiceStatus,
  type VoiceStep,
} from './voice.js'

/** The right to act on a voice; see `JobLease`. */
interface VoiceLease {
  readonly key: string
  readonly token: string
}

type VoiceClaim =
  | { readonly outcome: 'claimed'; readonly voice: Voice; readonly lease: VoiceLease }
  /** Another live process holds this voice: wait for it instead of paying. */
  | { readonly outcome: 'held'; readonly voice: Voice }

/**
 * Voices that were sent to a service and paid for: one row per voice, shared by all jobs and processes. Only the holder
 * of a voice's lease calls the service for it, and it records each step (see `VOICE_STATUSES`).
 */
export class VoiceLedger {
  readonly #database: Database
  readonly #holder: Holder
  readonly #keepMs: number

  constructor({
    database,
    holder,
    keepVoicesMs = KEEP_VOICES_MS,
  }: StoreContext & { readonly keepVoicesMs?: number | undefined }) {
    this.#database = database
    this.#holder = holder
    this.#keepMs = keepVoicesMs
  }

  /**
   * Claims a voice, new or known, with any status: the caller continues from `voice.status`. Each claim deletes up to
   * two unused voices, so the ledger stays bounded without a sweep. It keeps a voice that may be charged, and one whose
   * paid output waits for its download.
   */
  async claim(key: string, leaseMs: number = DEFAULT_LEASE_MS): Promise<VoiceClaim> {
    const claim = await this.#claim(key, leaseMs)
    const isFreed = claim.outcome === 'held' && (await freeDeadLeases(this.#database, this.#holder))
    return isFreed ? this.#claim(key, leaseMs) : claim
  }

  async heartbeat(lease: VoiceLease, leaseMs: number = DEFAULT_LEASE_MS): Promise<void> {
    await this.#database.transaction(async (tx) => {
      const renew = 'UPDATE voices SET lease_expires_ms = ? WHERE key = ? AND lease_token = ?'
      const { changes } = await tx.run(renew, [tx.nowMs + leaseMs, lease.key, lease.token])
      if (changes === 0) throw leaseLost('this voice')
    })
  }

  /**
   * Records a step.
   *
   * @throws {TransientError} `ERR_LEASE_LOST` if another process holds the voice: do not execute the announced step
   * @throws {Error} for a move that is not in `VOICE_MOVES`
   */
  async advance(lease: VoiceLease, step: VoiceStep): Promise<Voice> {
    const call = randomUUID()
    let isRepeated = false
    return this.#database.transaction(async (tx) => {
      const held = 'key = ? AND lease_token = ?'
      const done = isRepeated && (await findVoice(tx, `${held} AND last_call = ?`, [lease.key, lease.token, call]))
      if (done) return done
      isRepeated = true
      const row = await tx.get(
        `UPDATE voices SET status = ?, updated_ms = ?, last_call = ?
         WHERE ${held} AND ${tx.dialect.isOneOf('status', '?')} RETURNING *`,
        [step.status, tx.nowMs, call, lease.key, lease.token, BEFORE[step.status]],
      )
      if (row) return voiceOf(row, await advanceAttempt(tx, lease.key, step))
      const before = await findVoice(tx, held, [lease.key, lease.token])
      if (!before) throw leaseLost('this voice')
      throw new Error(`A voice cannot change from ${before.status} to ${step.status}.`)
    })
  }

  /** Releases the voice in any status. Ignores a lost lease. */
  async release(lease: VoiceLease): Promise<void> {
    await this.#database.run(`${FREE.voices} WHERE key = ? AND lease_token = ?`, [lease.key, lease.token])
  }

  /** Returns every voice that had a file of this id: two services may give the same id. */
  async allByFileId(fileId: string): Promise<Voice[]> {
    const rows = await this.#database.all('SELECT DISTINCT key FROM voice_attempts WHERE file_id = ?', [fileId])
    const found = await Promise.all(rows.map(({ key }) => findVoice(this.#database, 'key = ?', [String(key)])))
    return found.filter((voice) => voice !== null)
  }

  async #claim(key: string, leaseMs: number): Promise<VoiceClaim> {
    const request = requestLease(this.#holder, leaseMs)
    return this.#database.transaction(async (tx) => {
      const { nowMs } = tx
      const { changes: added } = await tx.run(
        `INSERT INTO voices (key, status, created_ms, updated_ms) VALUES (?, 'new', ?, ?) ON CONFLICT DO NOTHING`,
        [key, nowMs, nowMs],
      )
      const { token, holderId, expiresMs } = await newLease(tx, request)
      const row = await tx.get(
        `UPDATE voices SET lease_token = ?1, lease_holder = ?2, lease_expires_ms = ?3, updated_ms = ?4
         WHERE key = ?5 AND (lease_token IS NULL OR lease_expires_ms <= ?4 OR lease_token = ?1)
         RETURNING *`,
        [token, holderId, expiresMs, nowMs, key],
      )
      await tx.run(forgetUnused(tx), [nowMs - this.#keepMs, nowMs])
      if (!row) return { outcome: 'held', voice: await onlyVoice(tx, key) }
      const voice = voiceOf(row, added > 0 ? [] : await attemptsOf(tx, key))
      return { outcome: 'claimed', voice, lease: { key, token } }
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

/** The statuses, as a JSON list, from which a voice may change to each status. */
const BEFORE = Object.fromEntries(
  VOICE_STATUSES.map((to) => [
    to,
    JSON.stringify(VOICE_STATUSES.filter((from) => (VOICE_MOVES[from] as readonly VoiceStatus[]).includes(to))),
  ]),
) as Readonly<Record<VoiceStatus, string>>

/** Writes a step into the running attempt. @returns all attempts of the voice */
async function advanceAttempt(tx: Transaction, key: string, step: VoiceStep): Promise<readonly VoiceAttempt[]> {
  const { set, values } = attemptChange(step, tx.nowMs)
  const row =
    step.status === 'registering'
      ? await tx.get(
          `INSERT INTO voice_attempts (key, attempt, status, paid_sec, charged, started_ms)
           SELECT CAST(?1 AS TEXT), 1 + count(*), 'registering', 0, 0, CAST(?2 AS BIGINT) FROM voice_attempts WHERE key = ?1
           RETURNING *`,
          [key, tx.nowMs],
        )
      : await tx.get(
          `UPDATE voice_attempts SET ${set}status = ?
           WHERE key = ? AND attempt = (SELECT max(attempt) FROM voice_attempts WHERE key = ?) RETURNING *`,
          [...values, step.status, key, key],
        )
  // Most voices have only one.
  return row?.attempt === 1 ? [attemptOf(row)] : attemptsOf(tx, key)
}

async function findVoice(statements: Statements, where: string, values: readonly SqlValue[]): Promise<Voice | null> {
  const row = await statements.get(`SELECT * FROM voices WHERE ${where}`, values)
  return row ? voiceOf(row, await attemptsOf(statements, String(row.key))) : null
}

async function attemptsOf(statements: Statements, key: string): Promise<VoiceAttempt[]> {
  const rows = await statements.all('SELECT * FROM voice_attempts WHERE key = ? ORDER BY attempt', [key])
  return rows.map(attemptOf)
}

/** A voice that this transaction has found. */
async function onlyVoice(tx: Transaction, key: string): Promise<Voice> {
  const voice = await findVoice(tx, 'key = ?', [key])
  if (!voice) throw new Error('A voice vanished within a transaction.')
  return voice
}

/** The assignments of a step in the running attempt. */
function attemptChange(step: VoiceStep, nowMs: number): { set: string; values: SqlValue[] } {
  switch (step.status) {
    case 'registering':
    case 'uploaded':
    case 'cached':
      return { set: '', values: [] }
    case 'registered':
      return { set: 'file_id = ?, ', values: [step.fileId] }
    case 'starting':
      return { set: 'paid_sec = ?, ', values: [step.paidSec] }
    case 'started':
      return { set: 'charged = 1, error_code = NULL, ended_ms = NULL, ', values: [] }
    case 'succeeded':
      return { set: 'charged = 1, error_code = NULL, ended_ms = coalesce(ended_ms, ?), ', values: [nowMs] }
    case 'failed':
      return {
        set: `${step.isPaid === false ? 'charged = 0, ' : ''}error_code = ?, ended_ms = coalesce(ended_ms, ?), `,
        values: [step.errorCode, nowMs],
      }
    default:
      return step satisfies never
  }
}

/** Converts a row of `voices` with its attempts, oldest first. */
function voiceOf(row: Row, attempts: readonly VoiceAttempt[]): Voice {
  const latest = attempts.at(-1)
  return {
    key: String(row.key),
    status: row.status as VoiceStatus,
    fileId: latest?.fileId ?? null,
    errorCode: latest?.errorCode ?? null,
    paidSec: attempts.reduce((sum, attempt) => sum + attempt.paidSec, 0),
    attempts,
  }
}

function attemptOf(row: Row): VoiceAttempt {
  return {
    fileId: row.file_id === null ? null : String(row.file_id),
    status: row.status as VoiceAttempt['status'],
    errorCode: row.error_code === null ? null : Number(row.error_code),
    paidSec: row.charged === 1 ? Number(row.paid_sec) : 0,
    endedMs: row.ended_ms === null ? null : Number(row.ended_ms),
  }
}
