import { randomUUID } from 'node:crypto'
import { TransientError } from '../../core/errors.js'
import type { Database, Row, Statements, Transaction } from '../database/database.js'
import { type Holder, isCertainlyDead } from './holder.js'

/** Columns of a new lease. */
export interface NewLease {
  readonly token: string
  readonly holderId: number
  readonly expiresMs: number
}

/** A lease that a process asks for. */
export interface LeaseRequest {
  /** Made before the transaction, so that a repeated one finds the lease of the first. */
  readonly token: string
  readonly holder: Holder
  readonly leaseMs: number
}

/** Requests a lease for a process. */
export function requestLease(holder: Holder, leaseMs: number): LeaseRequest {
  return { token: randomUUID(), holder, leaseMs }
}

/** Creates a lease, inside the transaction that writes it. */
export async function newLease(tx: Transaction, { token, holder, leaseMs }: LeaseRequest): Promise<NewLease> {
  const identity = [holder.host, holder.pid, holder.startTicks ?? '']
  const find = `SELECT id FROM holders WHERE host = ? AND pid = ? AND start_ticks = ? ${tx.dialect.keep}`
  for (;;) {
    const row = await tx.get(find, identity)
    if (row) return { token, holderId: Number(row.id), expiresMs: tx.nowMs + leaseMs }
    await tx.run('INSERT INTO holders (host, pid, start_ticks) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', identity)
  }
}

/** Makes jobs ready whose lease is over. */
export const freeExpired = ({ dialect }: Pick<Transaction, 'dialect'>): string => `
  ${FREE.jobs} WHERE ${dialect.isIn(
    'id',
    `SELECT id FROM jobs INDEXED BY jobs_expiring
     WHERE lease_token IS NOT NULL AND lease_expires_ms <= ? ${dialect.lockFree}`,
  )}`

/** Frees the leases of processes that died on this host, so that nobody waits for their end. @returns true if it freed any */
export async function freeDeadLeases(database: Database, holder: Holder): Promise<boolean> {
  const dead = await deadHolders(database, holder)
  if (dead.length === 0) return false
  return database.transaction(async (tx) => {
    let freed = 0
    for (const id of dead) {
      for (const free of Object.values(FREE)) freed += (await tx.run(`${free} WHERE lease_holder = ?`, [id])).changes
      await tx.run('DELETE FROM holders WHERE id = ?', [id])
    }
    return freed > 0
  })
}

async function deadHolders(statements: Statements, { host }: Holder): Promise<number[]> {
  const rows = await statements.all('SELECT id, host, pid, start_ticks FROM holders WHERE host = ?', [host])
  return rows.filter((row) => isCertainlyDead(toHolder(row))).map(({ id }) => Number(id))
}

/** Deletes processes of other hosts, containers and boots that hold nothing. */
export async function forgetOldHolders(database: Database, holder: Holder): Promise<void> {
  try {
    await database.run(
      `DELETE FROM holders WHERE host <> ?
         AND NOT EXISTS (SELECT 1 FROM jobs WHERE lease_holder = holders.id)
         AND NOT EXISTS (SELECT 1 FROM voices WHERE lease_holder = holders.id)`,
      [holder.host],
    )
  } catch (error) {
    // One of them has just taken a lease. They are forgotten at another start.
    if ((error as { code?: unknown }).code !== FOREIGN_KEY_VIOLATION) throw error
  }
}

const FOREIGN_KEY_VIOLATION = '23503'

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

/** Assignments that end a lease. */
export const FREE_COLUMNS = 'lease_token = NULL, lease_holder = NULL, lease_expires_ms = NULL'

/** Frees leases; the condition follows. */
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
