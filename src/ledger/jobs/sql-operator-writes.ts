import type { Database, Transaction } from '../database/database.js'
import type { Holder } from '../leases/holder.js'
import { FREE_COLUMNS, freeDeadLeases } from '../leases/leases.js'
import { forgetLanes } from './job-claims.js'
import { findJob } from './job-reads.js'
import type { JobStore } from './job-store.js'
import { expedite } from './job-wakes.js'
import { READY } from './sql-job-claims.js'

type OperatorWrites = Pick<
  JobStore,
  'setPriority' | 'requeue' | 'cancel' | 'expedite' | 'forget' | 'forgetEnded' | 'pause' | 'resume' | 'pauses'
>

/** The part of a `sqlJobStore` with which people and daemons steer jobs that others hold, or nobody. */
export function sqlOperatorWrites(database: Database, holder: Holder): OperatorWrites {
  /** Changes a job that exists and has no holder. @returns false if there is none */
  const unlessHeld = async (id: string, change: (tx: Transaction) => Promise<unknown>): Promise<boolean> => {
    await freeDeadLeases(database, holder)
    return database.transaction(async (tx) => {
      const row = await tx.get(
        `SELECT id FROM jobs WHERE id = ? AND (lease_token IS NULL OR lease_expires_ms <= ?) ${tx.dialect.forUpdate}`,
        [id, tx.nowMs],
      )
      if (row) await change(tx)
      return row !== undefined
    })
  }

  return {
    setPriority: (id, priority) =>
      database.transaction(async (tx) => {
        await tx.run('UPDATE jobs SET priority = ?, updated_ms = ? WHERE id = ?', [priority, tx.nowMs, id])
        return findJob(tx, 'jobs.id = ?', [id])
      }),

    async requeue(id) {
      await unlessHeld(id, async (tx) => {
        await tx.run(
          `UPDATE jobs SET ${FREE_COLUMNS}, ready = 1, not_before_ms = NULL, updated_ms = ?,
             attempts = CASE WHEN status IN (${ENDED}) THEN 0 ELSE attempts END,
             status = CASE WHEN status IN (${ENDED}, 'working') THEN 'queued' ELSE status END WHERE id = ?`,
          [tx.nowMs, id],
        )
        await tx.notify(READY, '')
      })
      return findJob(database, 'jobs.id = ?', [id])
    },

    cancel: (id, error) =>
      database.transaction(async (tx) => {
        const { changes } = await tx.run(
          `UPDATE jobs SET ${FREE_COLUMNS}, status = 'failed', ready = 0, not_before_ms = NULL, error = ?, updated_ms = ?
           WHERE id = ? AND status NOT IN (${ENDED})`,
          [JSON.stringify(error), tx.nowMs, id],
        )
        return changes === 0 ? null : findJob(tx, 'jobs.id = ?', [id])
      }),

    expedite: (filter) =>
      database.transaction(async (tx) => {
        const count = await expedite(tx, filter)
        if (count > 0) await tx.notify(READY, '')
        return count
      }),

    forget: (id) => unlessHeld(id, (tx) => tx.run('DELETE FROM jobs WHERE id = ?', [id])),

    forgetEnded: (beforeMs) =>
      database.transaction(async (tx) => {
        const { changes } = await tx.run(FORGET_ENDED, [beforeMs])
        await forgetLanes(tx)
        return changes
      }),

    async pause(group, reason) {
      await database.run(
        `INSERT INTO pauses (grp, reason, since_ms) VALUES (?, ?, ?)
         ON CONFLICT (grp) DO UPDATE SET reason = excluded.reason`,
        [group ?? '', reason, database.nowMs()],
      )
    },

    async resume(group) {
      await database.run('DELETE FROM pauses WHERE grp = ?', [group ?? ''])
      await database.notify(READY, group ?? '')
    },

    async pauses() {
      const rows = await database.all('SELECT * FROM pauses ORDER BY since_ms', [])
      return rows.map((row) => ({
        group: String(row.grp) || null,
        reason: String(row.reason),
        sinceMs: Number(row.since_ms),
      }))
    },
  }
}

const ENDED = "'done', 'skipped', 'rejected', 'failed'"
/** Along an index of what ended. */
export const FORGET_ENDED = `DELETE FROM jobs INDEXED BY jobs_ended WHERE status IN (${ENDED}) AND updated_ms < ?`
