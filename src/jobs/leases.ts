import { randomUUID } from 'node:crypto'
import { TransientError } from '../core/errors.js'
import type { Database, Row } from './database.js'
import { type Holder, isCertainlyDead } from './holder.js'

/** Columns that a leased row is given. */
export interface NewLease {
  readonly token: string
  readonly holderId: number
  readonly expiresMs: number
}

/** Makes a lease for this process. Call inside the transaction that writes it. */
export function newLease(database: Database, holder: Holder, expiresMs: number): NewLease {
  const identity = [holder.host, holder.pid, holder.startTicks ?? '']
  database.run('INSERT OR IGNORE INTO holders (host, pid, start_ticks) VALUES (?, ?, ?)', identity)
  const row = database.get('SELECT id FROM holders WHERE host = ? AND pid = ? AND start_ticks = ?', identity)
  return { token: randomUUID(), holderId: Number(row?.id), expiresMs }
}

/**
 * Takes the leases away that ran out or whose holder died on this host. Call inside a transaction, before asking who
 * holds what.
 */
export function freeLostLeases(database: Database, nowMs: number, holder: Holder): void {
  for (const free of Object.values(FREE))
    database.run(`${free} WHERE lease_token IS NOT NULL AND lease_expires_ms <= ?`, [nowMs])
  for (const row of database.all('SELECT id, host, pid, start_ticks FROM holders WHERE host = ?', [holder.host])) {
    if (!isCertainlyDead(toHolder(row))) continue
    for (const free of Object.values(FREE)) database.run(`${free} WHERE lease_holder = ?`, [Number(row.id)])
    database.run('DELETE FROM holders WHERE id = ?', [Number(row.id)])
  }
}

/** Forgets processes of other hosts, containers and boots that hold nothing any more. */
export function forgetOldHolders(database: Database, holder: Holder): void {
  database.run(
    `DELETE FROM holders WHERE host <> ?
       AND NOT EXISTS (SELECT 1 FROM jobs WHERE lease_holder = holders.id)
       AND NOT EXISTS (SELECT 1 FROM voices WHERE lease_holder = holders.id)`,
    [holder.host],
  )
}

/** The work is another's by now: whoever gets this must publish nothing. */
export function leaseLost(what: string): TransientError {
  return new TransientError(
    'ERR_LEASE_LOST',
    `The work on ${what} was given to whoever asked for it next: its lease had run out.`,
    {
      remedies: ['Run again: it attaches to what the other process does, and nothing is paid for twice.'],
    },
  )
}

const FREE_COLUMNS = 'lease_token = NULL, lease_holder = NULL, lease_expires_ms = NULL'

/** Takes a lease away; the condition follows. */
export const FREE = {
  jobs: `UPDATE jobs SET ${FREE_COLUMNS}, ready = 1, status = CASE status WHEN 'working' THEN 'queued' ELSE status END`,
  voices: `UPDATE voices SET ${FREE_COLUMNS}`,
} as const

function toHolder(row: Row): Holder {
  return {
    host: String(row.host),
    pid: Number(row.pid),
    startTicks: row.start_ticks === '' ? null : String(row.start_ticks),
  }
}
