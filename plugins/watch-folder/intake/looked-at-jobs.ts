import { TransientError } from '../../../src/core/errors.js'
import { withDeadline } from '../../../src/core/with-deadline.js'
import type { Job, JobCount, JobStore, Pause } from '../../../src/ledger/index.js'

/** What people ask of the store. */
type Questions = Pick<JobStore, 'list' | 'get' | 'counts' | 'pauses'>

/** How long a person who looks waits for the store. */
const PATIENCE_MS = 2000

const AWAY = 'The job store does not respond.'

/**
 * The store as the page, the health answers and the metrics look at it. Work waits for minutes where a store on Redis
 * is away; a page and a scrape do not: they are told so soon, and that it is a reason for which nothing new is taken.
 */
export class LookedAtJobs implements Questions {
  readonly #jobs: Questions
  /** Asked once at a time: whoever looks meanwhile hears the same answer, and nothing piles up. */
  #counts: Promise<JobCount[]> | undefined
  #pauses: Promise<Pause[]> | undefined
  #awaySinceMs: number | undefined

  constructor(jobs: Questions) {
    this.#jobs = jobs
  }

  counts(): Promise<JobCount[]> {
    this.#counts ??= this.#jobs.counts().finally(() => {
      this.#counts = undefined
    })
    return soon(this.#counts)
  }

  /** Never rejects. */
  async pauses(): Promise<Pause[]> {
    this.#pauses ??= this.#jobs.pauses().finally(() => {
      this.#pauses = undefined
    })
    try {
      const pauses = await soon(this.#pauses)
      this.#awaySinceMs = undefined
      return pauses
    } catch {
      this.#awaySinceMs ??= Date.now()
      return [{ group: null, reason: AWAY, sinceMs: this.#awaySinceMs }]
    }
  }

  list(...args: Parameters<JobStore['list']>): Promise<Job[]> {
    return soon(this.#jobs.list(...args))
  }

  get(id: string): Promise<Job | null> {
    return soon(this.#jobs.get(id))
  }
}

/** An answer of the store, if it comes soon. @throws TransientError `ERR_STORE_UNREACHABLE` */
export function soon<T>(answer: Promise<T>): Promise<T> {
  return withDeadline(answer, PATIENCE_MS, () => {
    throw new TransientError('ERR_STORE_UNREACHABLE', AWAY)
  })
}
