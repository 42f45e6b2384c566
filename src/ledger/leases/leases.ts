import { randomUUID } from 'node:crypto'
import { TransientError } from '../../core/errors.js'
import type { Row, SqliteFile } from '../database/sqlite-file.js'
import { type Holder, isCertainlyDead } from './holder.js'

/** Columns of a new lease. */
export interface NewLease {
  readonly token: string
  readonly holderId: number
  readonly expiresMs: number
}

/** Creates a lease for this process. Call inside the transaction that writes it. */
export function newLease(database: SqliteFile, holder: Holder, expiresMs: number): NewLease {
  const identity = [holder.host, holder.pid, holder.startTicks ?? '']
  database.run('INSERT OR IGNORE INTO holders (host, pid, start_ticks) VALUES (?, ?, ?)', identity)
  const row = database.get('SELECT id FROM holders WHERE host = ? AND pid = ? AND start_ticks = ?', identity)
  return { token: randomUUID(), holderId: Number(row?.id), expiresMs }
}

/** Frees leases that expired or whose holder died on this host. Call inside a transaction, before reading holders. */
export function freeLostLeases(database: SqliteFile, nowMs: number, holder: Holder): void {
  // Usually nothing has expired, and a read is cheaper than two writes that change nothing.
  const first = database.get(FIRST_EXPIRIES)
  for (const [table, free] of Object.entries(FREE))
    if (Number(first?.[table] ?? Number.POSITIVE_INFINITY) <= nowMs)
      database.run(`${free} WHERE lease_token IS NOT NULL AND lease_expires_ms <= ?`, [nowMs])
  for (const row of database.all('SELECT id, host, pid, start_ticks FROM holders WHERE host = ?', [holder.host])) {
    if (!isCertainlyDead(toHolder(row))) continue
    for (const free of Object.values(FREE)) database.run(`${free} WHERE lease_holder = ?`, [Number(row.id)])
    database.run('DELETE FROM holders WHERE id = ?', [Number(row.id)])
  }
}

/** Deletes processes of other hosts, containers and boots that hold nothing. */
export function forgetOldHolders(database: SqliteFile, holder: Holder): void {
  database.run(
    `DELETE FROM holders WHERE host <> ?
       AND NOT EXISTS (SELECT 1 FROM jobs WHERE lease_holder = holders.id)
       AND NOT EXISTS (SELECT 1 FROM voices WHERE lease_holder = holders.id)`,
    [holder.host],
  )
}

/** Creates the error of a lost lease. Its receiver must publish nothing. */
export function leaseLost(what: string): TransientError {
  return new TransientError(
    'ERR_LEASE_LOST',
    `Another process took over ${what}, because the lease of this one had expired.`,
    {
      remedies: ['Run the same command again. It attaches to the other process, and nothing is paid for twice.'],
    },
  )
}

const FREE_COLUMNS = 'lease_token = NULL, lease_holder = NULL, lease_expires_ms = NULL'

/** Frees leases; the condition follows. */
export const FREE = {
  jobs: `UPDATE jobs SET ${FREE_COLUMNS}, ready = 1, status = CASE status WHEN 'working' THEN 'queued' ELSE status END`,
  voices: `UPDATE voices SET ${FREE_COLUMNS}`,
} as const

/** When the first lease of each table expires, or null. */
export const FIRST_EXPIRIES = `
  SELECT (SELECT min(lease_expires_ms) FROM jobs WHERE lease_token IS NOT NULL) AS jobs,
         (SELECT min(lease_expires_ms) FROM voices WHERE lease_token IS NOT NULL) AS voices`

function toHolder(row: Row): Holder {
  return {
    host: String(row.host),
    pid: Number(row.pid),
    startTicks: row.start_ticks === '' ? null : String(row.start_ticks),
  }
}
