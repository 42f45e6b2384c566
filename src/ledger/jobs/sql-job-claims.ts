import type { Database, Row, Transaction } from '../database/database.js'
import type { Holder } from '../leases/holder.js'
import { freeDeadLeases, freeExpired, type LeaseRequest, requestLease } from '../leases/leases.js'
import { isEnded } from './job.js'
import { CLAIMABLE, claimByKey, claimedBefore, claimNext } from './job-claims.js'
import { findJob } from './job-reads.js'
import { type ClaimedJob, DEFAULT_LEASE_MS, type JobStore } from './job-store.js'
import { wakeDelayed, wakeSetBack } from './job-wakes.js'

/** Channel on which a job that became ready is reported. */
export const READY = 'ready'
/** A report may be lost with its connection. */
const SWEEP_MS = 15_000

/** The claims of a `sqlJobStore`. */
export function sqlJobClaims(
  database: Database,
  holder: Holder,
): Pick<JobStore, 'claim' | 'claimNext' | 'freeDead' | 'watch'> {
  /** Time of the last claim. An earlier time now means that the clock was set back. */
  let clockMs = Number.POSITIVE_INFINITY
  /** When a delay or a lease ends next, as of the last claim. */
  let nextMs = 0

  /** Tries again if nothing was found because of processes of this host that are dead. */
  const unlessDead = async <T>(attempt: () => Promise<T>): Promise<T> => {
    const found = await attempt()
    return found === null && (await freeDeadLeases(database, holder)) ? attempt() : found
  }

  /** Runs a claim. Repeated, because the answer of its commit was lost, it finds what it took. */
  const take = (
    leaseMs: number,
    claim: (tx: Transaction, request: LeaseRequest) => Promise<ClaimedJob | null>,
  ): Promise<ClaimedJob | null> => {
    const request = requestLease(holder, leaseMs)
    let isRepeated = false
    return database.transaction(async (tx) => {
      const before = isRepeated ? await claimedBefore(tx, request) : null
      isRepeated = true
      return before ?? claim(tx, request)
    })
  }

  return {
    async claim(key, { leaseMs = DEFAULT_LEASE_MS } = {}) {
      const claimed = await unlessDead(() => take(leaseMs, (tx, request) => claimByKey(tx, key, request)))
      if (claimed) return { outcome: 'claimed', ...claimed }
      const job = await findJob(database, 'jobs.key = ?', [key])
      if (!job) return { outcome: 'unknown' }
      return { outcome: isEnded(job.status) ? 'ended' : 'held', job }
    },

    async claimNext(options = {}) {
      const lastMs = clockMs
      clockMs = database.nowMs()
      const isSetBack = clockMs < lastMs
      // A worker asks often. This reads three index entries, without a transaction.
      const { ready, expires_ms: expiresMs = null, due_ms: dueMs = null } = (await database.get(CLAIMABLE, [])) ?? {}
      nextMs = Math.min(...[expiresMs, dueMs].map((timeMs) => Number(timeMs ?? Number.POSITIVE_INFINITY)))
      const isOver = (timeMs: Row[string]) => timeMs !== null && Number(timeMs) <= clockMs
      const isDue = isOver(dueMs) || (isSetBack && dueMs !== null)
      if (expiresMs === null && ready !== 1 && !isDue) return null
      return unlessDead(async () => {
        if (ready !== 1 && !isDue && !isOver(expiresMs)) return null
        return take(options.leaseMs ?? DEFAULT_LEASE_MS, async (tx, request) => {
          if (isOver(expiresMs)) await tx.run(freeExpired(tx), [tx.nowMs])
          if (isSetBack) await wakeSetBack(tx)
          if (isDue) await wakeDelayed(tx)
          return claimNext(tx, options, request)
        })
      })
    },

    freeDead: () => freeDeadLeases(database, holder),

    async watch(onReady) {
      const listening = await database.listen(READY, onReady)
      return {
        waitMs: (pollMs) =>
          listening.isHearing() ? Math.max(pollMs, Math.min(SWEEP_MS, nextMs - database.nowMs())) : pollMs,
        stop: listening.stop,
      }
    },
  }
}
