import type { Database, Row, Transaction } from '../database/database.js'
import type { Holder } from '../leases/holder.js'
import { freeDeadLeases, freeExpired, type LeaseRequest, requestLease } from '../leases/leases.js'
import { isEnded } from './job.js'
import { CLAIMABLE, claimByKey, claimedBefore, claimNext } from './job-claims.js'
import { findJob } from './job-reads.js'
import { type ClaimedJob, type ClaimOptions, type ClaimOutcome, DEFAULT_LEASE_MS, type JobWatch } from './job-store.js'
import { wakeDelayed, wakeSetBack } from './job-wakes.js'

/** Channel on which a job that became ready is reported. */
export const READY = 'ready'
/** A report may be lost with its connection. */
const SWEEP_MS = 15_000

/** The claims of a `SqlJobStore`. */
export class SqlJobClaims {
  readonly #database: Database
  readonly #holder: Holder
  /** Time of the last claim. An earlier time now means that the clock was set back. */
  #clockMs = Number.POSITIVE_INFINITY
  /** When a delay or a lease ends next, as of the last claim. */
  #nextMs = 0

  constructor(database: Database, holder: Holder) {
    this.#database = database
    this.#holder = holder
  }

  async one(key: string, { leaseMs = DEFAULT_LEASE_MS }: Pick<ClaimOptions, 'leaseMs'>): Promise<ClaimOutcome> {
    const claimed = await this.#unlessDead(() => this.#claim(leaseMs, (tx, request) => claimByKey(tx, key, request)))
    if (claimed) return { outcome: 'claimed', ...claimed }
    const job = await findJob(this.#database, 'jobs.key = ?', [key])
    if (!job) return { outcome: 'unknown' }
    return { outcome: isEnded(job.status) ? 'ended' : 'held', job }
  }

  async next(options: ClaimOptions): Promise<ClaimedJob | null> {
    const lastMs = this.#clockMs
    this.#clockMs = this.#database.nowMs()
    const isSetBack = this.#clockMs < lastMs
    // A worker asks often. This reads three index entries, without a transaction.
    const {
      ready,
      expires_ms: expiresMs = null,
      due_ms: dueMs = null,
    } = (await this.#database.get(CLAIMABLE, [])) ?? {}
    this.#nextMs = Math.min(...[expiresMs, dueMs].map((timeMs) => Number(timeMs ?? Number.POSITIVE_INFINITY)))
    const isOver = (timeMs: Row[string]) => timeMs !== null && Number(timeMs) <= this.#clockMs
    const isDue = isOver(dueMs) || (isSetBack && dueMs !== null)
    if (expiresMs === null && ready !== 1 && !isDue) return null
    const claim = async () => {
      if (ready !== 1 && !isDue && !isOver(expiresMs)) return null
      return this.#claim(options.leaseMs ?? DEFAULT_LEASE_MS, async (tx, request) => {
        if (isOver(expiresMs)) await tx.run(freeExpired(tx), [tx.nowMs])
        if (isSetBack) await wakeSetBack(tx)
        if (isDue) await wakeDelayed(tx)
        return claimNext(tx, options, request)
      })
    }
    return this.#unlessDead(claim)
  }

  async watch(onReady: () => void): Promise<JobWatch> {
    const listening = await this.#database.listen(READY, onReady)
    return {
      waitMs: (pollMs) =>
        listening.isHearing() ? Math.max(pollMs, Math.min(SWEEP_MS, this.#nextMs - this.#database.nowMs())) : pollMs,
      stop: listening.stop,
    }
  }

  /** Tries again if nothing was found because of processes of this host that are dead. */
  async #unlessDead<T>(attempt: () => Promise<T>): Promise<T> {
    const found = await attempt()
    return found === null && (await freeDeadLeases(this.#database, this.#holder)) ? attempt() : found
  }

  /** Runs a claim. Repeated, because the answer of its commit was lost, it finds what it took. */
  async #claim(
    leaseMs: number,
    claim: (tx: Transaction, request: LeaseRequest) => Promise<ClaimedJob | null>,
  ): Promise<ClaimedJob | null> {
    const request = requestLease(this.#holder, leaseMs)
    let isRepeated = false
    return this.#database.transaction(async (tx) => {
      const before = isRepeated ? await claimedBefore(tx, request) : null
      isRepeated = true
      return before ?? claim(tx, request)
    })
  }
}
