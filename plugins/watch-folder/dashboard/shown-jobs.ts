import { TransientError } from '../../../src/core/errors.js'
import { sharedWhileRunning, withDeadline } from '../../../src/core/waiting.js'
import type { Job, JobCount, JobStore, Pause } from '../../../src/ledger/index.js'
import type { DaemonView } from '../daemon-view.js'

/** The requests of people to the store. */
type Questions = Pick<JobStore, 'list' | 'get' | 'counts' | 'pauses'>

/** Time that a person waits for the store. */
const PATIENCE_MS = 2000

const AWAY = 'The job store does not respond.'

/**
 * The store for the page, the health checks and the metrics. A job waits for minutes while a shared store is away. A
 * page and a scrape learn soon that it is away, which is also a reason why no file is taken.
 */
export class ShownJobs implements Questions {
  readonly #jobs: Questions
  /** One request at a time. Others that come meanwhile share its response, so nothing piles up. */
  readonly #counts = sharedWhileRunning(() => this.#jobs.counts())
  readonly #pauses = sharedWhileRunning(() => this.#jobs.pauses())
  #awaySinceMs: number | undefined

  constructor(jobs: Questions) {
    this.#jobs = jobs
  }

  counts(): Promise<JobCount[]> {
    return withinPatience(this.#counts())
  }

  /** Never rejects. */
  async pauses(): Promise<Pause[]> {
    try {
      const pauses = await withinPatience(this.#pauses())
      this.#awaySinceMs = undefined
      return pauses
    } catch {
      this.#awaySinceMs ??= Date.now()
      return [{ group: null, reason: AWAY, sinceMs: this.#awaySinceMs }]
    }
  }

  list(...args: Parameters<JobStore['list']>): Promise<Job[]> {
    return withinPatience(this.#jobs.list(...args))
  }

  get(id: string): Promise<Job | null> {
    return withinPatience(this.#jobs.get(id))
  }
}

/** The pauses of all jobs and of the folders of this daemon. Those of another daemon on the same store do not count. */
export async function ownPauses(jobs: Pick<ShownJobs, 'pauses'>, { folders }: DaemonView): Promise<readonly Pause[]> {
  const groups = new Set(folders.map(({ group }) => group))
  return (await jobs.pauses()).filter(({ group }) => group === null || groups.has(group))
}

/** A response of the store, if it comes soon. @throws {TransientError} `ERR_STORE_UNREACHABLE` */
export function withinPatience<T>(answer: Promise<T>): Promise<T> {
  return withDeadline(answer, PATIENCE_MS, () => {
    throw new TransientError('ERR_STORE_UNREACHABLE', AWAY)
  })
}

/** A page of jobs of the daemon's folders, newest first. A store may hold jobs of other daemons and of `voxmux run`. */
export async function ownJobs(
  { daemon, jobs }: { readonly daemon: DaemonView; readonly jobs: Questions },
  filter: Parameters<JobStore['list']>[0] & { readonly limit: number },
): Promise<Job[]> {
  const lists = await Promise.all(daemon.folders.map(({ group }) => jobs.list({ ...filter, group })))
  return lists
    .flat()
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, filter.limit)
}
